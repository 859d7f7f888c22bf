import Concurrency
import GatewayKit
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Web

/// Live values.
@Suite(.timeLimit(.minutes(3))) struct PageEventTests {
    /// What a stream has written.
    private final class Written: Sendable {
        private let parts = Recorder<String>()
        func append(_ part: [UInt8]) { parts.append(String(decoding: part, as: UTF8.self)) }
        var texts: [String] { parts.elements }
        func wait(_ count: Int) async throws -> [String] { try await parts.wait { $0.count >= count } }
    }

    @Test func `a part is sent when it shows something else, as it stands on the page`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let key = LivePages.Key(place: .overview, rights: .everything)
        let (live, clock) = (household.memory.live, household.clock)
        func edition(_ changes: Int) async -> LivePages.Edition {
            await live.edition(of: key, changes: changes, at: household.now, clock.now.offset) {
                await household.site.content(of: key, at: household.now)
            }
        }
        let first = await edition(1)
        let tile = try #require(first.parts.first { $0.key == "value.band-1.heart_rate" })
        #expect(tile.html.contains(#"data-live="value.band-1.heart_rate""#) && tile.html.contains(">60"))
        #expect(first.devices.map(\.text) == ["band-1"])
        clock.advance(by: .seconds(1))
        // Nothing has changed: not even rendered.
        #expect(await edition(1).madeAt == first.madeAt)
        household.reader.set { state in
            for (id, states) in state.states {
                state.states[id] = states.map { part in
                    guard case .latest(var latest) = part, latest.stored.sample.metric == .heartRate else {
                        return part
                    }
                    latest.stored.sample.reading = .value(99)
                    return .latest(latest)
                }
            }
        }
        let second = await edition(2)
        let changed = second.parts.filter { $0.changedAt > first.madeAt }
        #expect(changed.map(\.key) == ["value.band-1.heart_rate"])
        #expect(changed.first?.html.contains(">99") == true)
        #expect(!changed.contains { $0.html.contains("ago") }, "an age alone changes no part")
    }

    @Test func `every part of a stream stands on its page`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        for page in ShownHousehold.pages where !page.contains("?") {
            let place = try #require(PagePlace(page))
            let html = await browser.text(page)
            let content = await household.site.content(
                of: LivePages.Key(place: place, rights: .everything), at: household.now)
            for part in content.parts { #expect(html.contains("data-live=\"\(part.key)\""), "\(page): \(part.key)") }
        }
    }

    @Test func `a value of a device for several is called by its user, since it stands at a person`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        household.reader.set { state in
            for (id, states) in state.states {
                state.devices = [
                    ConfiguredDevice(id: id, name: "Band", driver: "simulator", people: [1: "Anna", 2: "Ben"])
                ]
                state.states[id] = states.map { part in
                    guard case .latest(var latest) = part else { return part }
                    latest.stored.sample.user = 2
                    return .latest(latest)
                }
            }
        }
        let content = await household.site.content(
            of: LivePages.Key(place: .overview, rights: .everything), at: household.now)
        #expect(content.parts.contains { $0.key == "value.band-1.heart_rate.2" })
        #expect(!content.parts.contains { $0.key == "value.band-1.heart_rate" })
    }

    @Test func `an event has a name, a moment, and the lines of a part`() {
        let bytes = PageSite.event("part", at: Timestamp(seconds: 0), "<p>\n</p>")
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "event: part\nid: 1970-01-01T00:00:00.000Z\ndata: <p>\ndata: </p>\n\n")
    }

    @Test func `a stream sends changes once a second at most, and a sign of life without them`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        _ = await browser.get("/")
        let answer = await browser.get("/events?page=")
        let stream = try #require(answer.stream)
        let written = Written()
        let clock = household.clock
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stream { part in written.append(part) } }
            #expect(try await written.wait(1) == [": live\n\n"])
            var uptime: Duration = .zero
            func step() async throws {
                uptime += PageSite.eventInterval
                try await clock.move(to: uptime)
            }
            try await step()
            household.gateway.set { $0.late = ["start"] }
            try await step()
            let texts = try await written.wait(2)
            #expect(texts.last?.contains("event: part\n") == true)
            #expect(texts.last?.contains(#"data-live="concerns""#) == true)
            let count = texts.count
            for _ in 0..<Int(PageSite.heartbeat.components.seconds) + 1 { try await step() }
            #expect(try await written.wait(count + 1).last == ":\n\n")
            group.cancelAll()
        }
        answer.onEnd()
    }

    @Test func `a stream says that its page is another one, or that its session has ended`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        _ = await browser.get("/")
        let written = Written()
        let clock = household.clock
        for isSession in [false, true] {
            let stream = try #require(await browser.get("/events?page=").stream)
            let begun = clock.now.offset
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await stream { part in written.append(part) } }
                // It has looked once.
                _ = try await clock.nextSleep()
                if isSession {
                    let id = String((browser.cookie ?? "").drop { $0 != "=" }.dropFirst())
                    household.memory.sessions.end(id)
                } else {
                    household.reader.set { $0.devices = [] }
                    household.gateway.set { _ in }
                }
                try await clock.move(to: begun + PageSite.eventInterval)
                try await group.waitForAll()
            }
            #expect(written.texts.last?.hasPrefix("event: reload\n") == true)
        }
    }

    @Test func `a stream ends when another configuration says who may see the pages`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        _ = await browser.get("/")
        let stream = try #require(await browser.get("/events?page=").stream)
        let (written, clock) = (Written(), household.clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stream { part in written.append(part) } }
            _ = try await clock.nextSleep()
            let other = try accessRule(["ingress": ConfigurationValue(.scalar("true", isQuoted: false))])
            _ = PageSite(household.site.settings, access: other, isLoopback: true, memory: household.memory)
            try await clock.move(to: PageSite.eventInterval)
            try await group.waitForAll()
        }
        #expect(written.texts.last?.hasPrefix("event: reload\n") == true)
    }

    @Test func `a stream ends after an hour, for another one`() async throws {
        let household = try ShownHousehold()
        let browser = ShownBrowser(household)
        _ = await browser.get("/")
        let stream = try #require(await browser.get("/events?page=gateway").stream)
        let clock = household.clock
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stream { _ in } }
            try await clock.move(to: PageSite.longestStream, from: .zero)
            try await group.waitForAll()
        }
    }

    @Test func `beyond the streams that are open at once, a browser is asked to come later`() async throws {
        let household = try ShownHousehold()
        let browser = ShownBrowser(household)
        _ = await browser.get("/")
        var answers: [WebAnswer] = []
        for _ in 0..<PageMemory.maximumStreams { answers.append(await browser.get("/events?page=gateway")) }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(await browser.get("/events?page=gateway").status == 503)
        answers[0].onEnd()
        #expect(await browser.get("/events?page=gateway").status == 200)
        #expect(await browser.get("/events?page=//evil.example").status == 400)
        #expect(await browser.get("/events").status == 400)
    }

    @Test func `pages that nobody looks at any more are forgotten`() async throws {
        let live = LivePages()
        func look(_ number: Int, _ made: Recorder<Int>) async {
            let key = LivePages.Key(
                place: .overview, rights: PageRights(persons: ["\(number)"]))
            _ = await live.edition(of: key, changes: 1, at: Timestamp(seconds: 0), .seconds(number)) {
                made.append(number)
                return LivePages.Content(devices: [], parts: [])
            }
        }
        let made = Recorder<Int>()
        for number in 0...LivePages.maximum { await look(number, made) }
        await look(LivePages.maximum, made)
        #expect(made.elements.count == LivePages.maximum + 1)
        await look(0, made)
        #expect(made.elements.last == 0)
        live.forget()
        await look(0, made)
        #expect(made.elements.count == LivePages.maximum + 3)
    }
}
