import GatewayKit
import GatewayTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Web

/// The events of the API, in simulated time.
@Suite struct APIEventTests {
    /// What a client has got of a stream.
    private final class Client: Sendable {
        private let parts = Mutex<[String]>([])
        func add(_ part: [UInt8]) { parts.withLock { $0.append(String(decoding: part, as: UTF8.self)) } }
        /// The events, each with its lines; comments are events of one line.
        var events: [[Substring]] {
            parts.withLock { $0.joined() }.split(separator: "\n\n").map { $0.split(separator: "\n") }
        }
        /// The kinds of the events.
        var kinds: [Substring] { events.map { $0[0].replacing("event: ", with: "")[...] } }
        var text: String { parts.withLock { $0.joined() } }
    }

    private static func latest(_ value: Double, _ minute: Int = 0, user: Int? = nil) throws -> DeviceState {
        .latest(LatestState(stored: try ShownData.beat(minute, value, user: user), freshUntil: nil, isStale: false))
    }

    private static func alert(_ name: String, user: Int? = nil) throws -> Fact {
        let event = AlertEvent(
            id: SampleID(name: name), rule: AlertRule(.stress, .high), edge: .raised, value: 90, limit: 80,
            origin: .gateway, measuredAt: ShownData.dawn, raisedAt: ShownData.dawn, sampleID: nil, user: user)
        let device = try ShownData.id(user == nil ? "band-1" : "cuff")
        return Fact(sequence: 7, lane: .alert, device: device, content: .alert(event, isLate: false))
    }

    /// Runs `body` while a client follows a path.
    private func follow(
        _ path: String = "events", _ headers: HTTPFields = [:], tokens: [APITokens.Token] = [],
        _ body: @escaping @Sendable (EventHub, Client, ShownAPI, GatewayClock) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, start: ShownData.dawn, deadline: .hours(4)) { simulation in
            let data = try ShownData.ofTwo()
            let band = try ShownData.id("band-1")
            data.set { $0.states[band] = [.availability(isOnline: true)] }
            let hub = EventHub(since: ShownData.dawn)
            let clock = simulation.gatewayClock
            let api = try ShownAPI(data, tokens: tokens, events: hub, clock: clock)
            let answer = await api.ask(path, headers)
            let stream = try #require(answer.stream)
            let client = Client()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await stream { client.add($0) } }
                do { try await body(hub, client, api, clock) } catch { Issue.record(error) }
                group.cancelAll()
            }
        }
    }

    @Test func `a stream begins with all states, and goes on with what changes`() throws {
        try follow { hub, client, _, clock in
            try await clock.sleep(for: .seconds(1))
            #expect(client.kinds == ["reset", "state", "ready"])
            #expect(client.text.contains(#"data: {"device":"band-1","topic":"availability","payload":"online"}"#))
            let band = try ShownData.id("band-1")
            hub.add(band, try Self.latest(71))
            hub.add(try Self.alert("a"))
            try await clock.sleep(for: .seconds(2))
            #expect(client.kinds.suffix(2) == ["state", "alert"])
            #expect(
                client.text.contains(#""topic":"latest/heart_rate""#) && client.text.contains(#""topic":"event/alert""#)
            )
            #expect(client.text.contains(#""person":"anna""#) && client.text.contains(#""seq":7"#))
        }
    }

    @Test func `of values that come faster than twice a second there is the newest, and every edge of an alert`() throws
    {
        try follow { hub, client, _, clock in
            try await clock.sleep(for: .seconds(1))
            let band = try ShownData.id("band-1")
            for value in 60..<100 { hub.add(band, try Self.latest(Double(value))) }
            for name in ["a", "b"] { hub.add(try Self.alert(name)) }
            try await clock.sleep(for: .seconds(2))
            let later = client.kinds.dropFirst(3)
            #expect(later.filter { $0 == "alert" }.count == 2 && later.filter { $0 == "state" }.count <= 2)
            #expect(client.text.contains(#""value":99"#))
        }
    }

    @Test func `a client that comes back goes on behind its last event, and else begins again`() throws {
        let hub = EventHub(since: ShownData.dawn)
        let band = try ShownData.id("band-1")
        for value in 1...3 { hub.add(band, try Self.latest(Double(value))) }
        #expect(hub.events(after: 1)?.map(\.number) == [2, 3] && hub.events(after: 3)?.isEmpty == true)
        #expect(hub.events(after: 4) == nil)
        for value in 1...EventHub.kept { hub.add(band, try Self.latest(Double(value))) }
        #expect(hub.events(after: 2) == nil && hub.events(after: 3)?.count == EventHub.kept)
        #expect(hub.events(after: 3)?.first?.number == 4 && hub.newest == Int64(EventHub.kept + 3))
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        let first = String(ShownData.dawn.milliseconds, radix: 16)
        for (id, kinds) in [
            ("\(first)-0", []), ("other-0", ["reset", "state", "ready"]), ("\(first)-9", ["reset", "state", "ready"]),
        ] as [(String, [String])] {
            try follow("events", [name: id]) { hub, client, _, clock in
                try await clock.sleep(for: .seconds(1))
                #expect(client.kinds == kinds.map { $0[...] })
            }
        }
        let long = String(repeating: "0", count: EventStream.maximumID)
        try follow("events", [name: "\(first)-\(long)"]) { _, client, _, clock in
            try await clock.sleep(for: .seconds(1))
            #expect(client.kinds.first == "reset")
        }
    }

    @Test func `a silent stream sends a comment every fifteen seconds, and ends after an hour`() throws {
        try follow { _, client, _, clock in
            try await clock.sleep(for: .minutes(10))
            let comments = client.events.filter { $0 == [": "] }.count
            #expect((36...40).contains(comments))
            try await clock.sleep(for: .minutes(51))
            let count = client.events.count
            try await clock.sleep(for: .minutes(5))
            #expect(client.events.count == count)
        }
    }

    @Test func `a stream ends when its token is taken back`() throws {
        let token = APITokens.Token(name: "t", secret: Secret("secret"), scopes: [.read], people: nil)
        try follow("events", [.authorization: "Bearer secret"], tokens: [token]) { hub, client, api, clock in
            try await clock.sleep(for: .seconds(1))
            _ = api.api.page(API.Access(APITokens(), isOpen: false))
            try await clock.sleep(for: EventStream.heartbeat + EventStream.pause)
            let count = client.events.count
            hub.add(try Self.alert("a"))
            try await clock.sleep(for: .minutes(1))
            #expect(client.events.count == count)
        }
    }

    @Test func `a client gets the events of the device and the person that it asks for, and may see`() throws {
        let token = APITokens.Token(name: "t", secret: Secret("secret"), scopes: [.read], people: ["anna"])
        for (path, tokens, expected) in [
            ("events?device=cuff", [], ["one", "two"]), ("events?person=ben", [], ["two"]),
            ("events", [token], ["band", "one"]),
        ] as [(String, [APITokens.Token], [String])] {
            let headers: HTTPFields = tokens.isEmpty ? [:] : [.authorization: "Bearer secret"]
            try follow(path, headers, tokens: tokens) { hub, client, _, clock in
                try await clock.sleep(for: .seconds(1))
                for (name, user) in [("band", nil), ("one", 1), ("two", 2)] as [(String, Int?)] {
                    hub.add(try Self.alert(name, user: user))
                }
                try await clock.sleep(for: .seconds(2))
                for name in ["band", "one", "two"] {
                    #expect(
                        client.text.contains(SampleID(name: name).description) == expected.contains(name),
                        "\(path) \(name)")
                }
            }
        }
    }

    @Test func `what another person measures at a shared device hides no state of one's own`() throws {
        let token = APITokens.Token(name: "t", secret: Secret("secret"), scopes: [.read], people: ["anna"])
        try follow("events", [.authorization: "Bearer secret"], tokens: [token]) { hub, client, _, clock in
            try await clock.sleep(for: .seconds(1))
            let cuff = try ShownData.id("cuff")
            // The next part has both.
            hub.add(cuff, try Self.latest(71, user: 1))
            hub.add(cuff, try Self.latest(99, user: 2))
            try await clock.sleep(for: .seconds(2))
            #expect(client.text.contains(#""value":71"#) && !client.text.contains(#""value":99"#))
        }
    }

    @Test func `there is no stream of a device that is not there, or that the token may not see`() async throws {
        let token = APITokens.Token(name: "t", secret: Secret("secret"), scopes: [.read], people: ["nobody"])
        let open = try ShownAPI(try ShownData.ofTwo())
        #expect(await open.ask("events?device=other").status == 404)
        #expect(await open.ask("events?device=band-1").status == 200)
        let guarded = try ShownAPI(try ShownData.ofTwo(), tokens: [token])
        let hidden = await guarded.ask("events?device=band-1", [.authorization: "Bearer secret"])
        #expect(hidden.status == 404)
        #expect(String(decoding: hidden.body, as: UTF8.self).contains("There is no such device"))
    }

    @Test func `events are no JSON`() async throws {
        let api = try ShownAPI(try ShownData.ofTwo())
        #expect(await api.ask("events", [.accept: "application/json"]).status == 406)
        for accept in ["text/event-stream", "*/*"] {
            let answer = await api.ask("events", [.accept: accept])
            #expect(answer.contentType == "text/event-stream" && answer.stream != nil)
        }
    }
}
