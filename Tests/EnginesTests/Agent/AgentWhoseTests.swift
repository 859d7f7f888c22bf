import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Engines

/// A scale for several persons: what waits for its person, and what somebody says of it.
@Suite struct AgentWhoseTests {
    private static let people = [1: "anna", 2: "ben"]

    private static func policy(_ guests: Attribution.Guests = .ask) -> DevicePolicy {
        var policy = DevicePolicy(calendar: Fixture.utc)
        policy.attribution = Attribution(
            [
                Attribution.Person(user: 1, expected: [.weight: 62]),
                Attribution.Person(user: 2, expected: [.weight: 83]),
            ], guests: guests)
        return policy
    }

    private static func rig(_ environment: Simulation, guests: Attribution.Guests = .ask) -> AgentRig {
        AgentRig(
            environment, capabilities: Capabilities([.weight: [.history], .bodyFat: [.history]]),
            policy: policy(guests), people: people)
    }

    private static func weight(_ value: Double, at minute: Int, user: Int? = nil) -> Sample {
        Sample(metric: .weight, start: Fixture.minute(minute), user: user, reading: .value(value))
    }

    private static func fat(_ value: Double, at minute: Int) -> Sample {
        Sample(metric: .bodyFat, start: Fixture.minute(minute), reading: .value(value))
    }

    private static func id(_ minute: Int, _ metric: Metric = .weight) -> SampleID {
        SampleID(
            device: Fixture.device, sample: Sample(metric: metric, start: Fixture.minute(minute), reading: .value(1)))
    }

    /// Sends samples, and waits until they are stored.
    private static func send(_ samples: [Sample], to rig: AgentRig) async throws {
        let count = rig.calls.count { $0.kind == .settle }
        await rig.session?.send(.samples(samples, receipts: samples.indices.map { SampleReceipt("\($0)") }))
        while rig.calls.count(where: { $0.kind == .settle }) == count { try await rig.sleep(for: .milliseconds(1)) }
    }

    private static func questions(_ rig: AgentRig) -> [Question] {
        rig.states.compactMap { if case .whose(let whose) = $0 { whose.questions } else { nil } }.last ?? []
    }

    private static func published(_ rig: AgentRig) -> [Fact.Measurement] {
        rig.store.facts.compactMap { if case .measurement(let measurement) = $0.content { measurement } else { nil } }
    }

    private static func asked(_ rig: AgentRig) -> [Question] {
        rig.store.facts.compactMap { if case .question(let question) = $0.content { question } else { nil } }
    }

    private static func running(
        guests: Attribution.Guests = .ask, _ body: @escaping @Sendable (AgentRig, DeviceAgent) async throws -> Void,
        then check: @escaping @Sendable (AgentRig) async throws -> Void = { _ in }
    ) throws {
        try AgentRig.synced(0..<5, from: { rig($0, guests: guests) }, when: body, then: check)
    }

    @Test func `what is clear is its person's at once, with what was measured with it`() throws {
        try Self.running { rig, _ in
            try await Self.send([Self.fat(20, at: -5), Self.weight(62.2, at: -5), Self.weight(82, at: -4)], to: rig)
            try await Self.send([Self.fat(30, at: -4)], to: rig)
            // The device says it.
            try await Self.send([Self.weight(64.5, at: -3, user: 1)], to: rig)
            let published = Self.published(rig)
            #expect(published.map(\.metric).count == 5 && Self.asked(rig).isEmpty)
            let users = Dictionary(
                published.flatMap { fact in fact.samples.map { ($0.id, fact.user) } }, uniquingKeysWith: { $1 })
            #expect(users[Self.id(-5)] == 1 && users[Self.id(-5, .bodyFat)] == 1)
            #expect(users[Self.id(-4)] == 2 && users[Self.id(-4, .bodyFat)] == 2 && users[Self.id(-3)] == 1)
            #expect(Self.questions(rig).isEmpty)
        }
    }

    @Test func `what is not clear waits, counts nowhere, and is its person's when somebody says it, also again`() throws
    {
        try Self.running { rig, agent in
            try await Self.send([Self.weight(62.1, at: -20)], to: rig)
            try await Self.send([Self.weight(72, at: -10), Self.fat(25, at: -10)], to: rig)
            #expect(Self.questions(rig).map(\.id) == [Self.id(-10)])
            #expect(Self.asked(rig) == Self.questions(rig))
            #expect(Set(Self.questions(rig).first?.candidates ?? []) == [1, 2])
            #expect(rig.latest.last?.stored.sample.value == 62.1)
            #expect(Self.published(rig).flatMap(\.samples).count == 1)
            let counting = try await rig.store.samples(of: Fixture.device).filter { $0.sample.metric == .weight }
            #expect(counting.map(\.sample.value) == [62.1])

            // A person who is none of the device's, and a sample that is none.
            let stranger = try await rig.ask(.assign(Self.id(-10), person: "carl"), "a", of: agent)
            #expect(stranger.code == .invalid && stranger.violations.map(\.path) == ["person"])
            let unknown = try await rig.ask(.assign(Self.id(5), person: "ben"), "b", of: agent)
            #expect(unknown.code == .invalid && unknown.violations.map(\.path) == ["id"])

            let answer = try await rig.ask(.assign(nil, person: "ben"), "c", of: agent)
            #expect(answer.status == .done)
            #expect(Self.questions(rig).isEmpty)
            let moved = Self.published(rig).filter { $0.user == 2 }
            #expect(Set(moved.map(\.metric)) == [.weight, .bodyFat])
            #expect(moved.flatMap(\.samples).allSatisfy { $0.revision == 2 && !$0.isWithdrawn })
            #expect(rig.latest.contains { $0.stored.id == Self.id(-10) })
            let none = try await rig.ask(.assign(nil, person: "ben"), "d", of: agent)
            #expect(none.code == .conflict)

            // It comes again, and stays; somebody mends it, and it comes again.
            try await Self.send([Self.weight(72, at: -10)], to: rig)
            let mended = try await rig.ask(.assign(Self.id(-10), person: "anna"), "e", of: agent)
            #expect(mended.status == .done)
            try await Self.send([Self.weight(72, at: -10), Self.fat(25, at: -10)], to: rig)
            let last = Self.published(rig).suffix(2)
            #expect(last.map(\.user) == [1, 1] && last.flatMap(\.samples).allSatisfy { $0.revision == 3 })
            let again = try await rig.ask(.assign(Self.id(-10), person: "anna"), "f", of: agent)
            #expect(again.status == .done && Self.published(rig).count == 5)
        } then: { rig in
            let stored = try await rig.store.samples(of: Fixture.device).filter { $0.sample.metric == .weight }
            #expect(stored.map(\.sample.user) == [1, 1] && stored.map(\.revision) == [1, 3])
        }
    }

    @Test func `a guest is taken back, stays so when it comes again, and can be given back`() throws {
        try Self.running { rig, agent in
            try await Self.send([Self.weight(62.1, at: -20)], to: rig)
            try await Self.send([Self.weight(62.3, at: -10)], to: rig)
            let answer = try await rig.ask(.withdraw(Self.id(-10)), "a", of: agent)
            #expect(answer.status == .done)
            let fact = try #require(Self.published(rig).last)
            #expect(fact.samples.map(\.isWithdrawn) == [true] && fact.samples.map(\.revision) == [2])
            #expect(rig.latest.last?.stored.sample.value == 62.1)
            try await Self.send([Self.weight(62.3, at: -10)], to: rig)
            #expect(Self.published(rig).last == fact)
            let twice = try await rig.ask(.withdraw(Self.id(-10)), "b", of: agent)
            #expect(twice.status == .rejected && twice.code == .conflict)
            let back = try await rig.ask(.assign(Self.id(-10), person: "ben"), "c", of: agent)
            #expect(back.status == .done && Self.published(rig).last?.user == 2)
            #expect(rig.latest.last?.stored.id == Self.id(-10))

            // One that waits is never published.
            let count = Self.published(rig).count
            try await Self.send([Self.weight(100, at: -5)], to: rig)
            let waiting = try await rig.ask(.withdraw(nil), "d", of: agent)
            #expect(waiting.status == .done && Self.published(rig).count == count && Self.questions(rig).isEmpty)
        }
    }

    @Test func `where guests are kept apart they are not asked for, and are counted`() throws {
        try Self.running(guests: .drop) { rig, agent in
            try await Self.send([Self.weight(110, at: -10), Self.fat(40, at: -10)], to: rig)
            #expect(Self.published(rig).isEmpty && Self.asked(rig).isEmpty)
            let known = try await rig.ask(.assign(Self.id(-10), person: "ben"), "a", of: agent)
            #expect(known.status == .done && Self.published(rig).map(\.user) == [2, 2])
        }
    }

    @Test func `what waits does so after a restart`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = Self.rig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                try await Self.send([Self.weight(72, at: -10)], to: rig)
            }
            let count = rig.count
            try await rig.run { agent in
                try await rig.wait(after: count) {
                    if case .whose(let whose) = $0 { whose.questions.count == 1 } else { false }
                }
                #expect(Self.questions(rig).map(\.id) == [Self.id(-10)])
                let answer = try await rig.ask(.assign(nil, person: "anna"), "a", of: agent)
                #expect(answer.status == .done)
            }
        }
    }

    @Test func `days follow`() throws {
        try Self.running { rig, agent in
            try await Self.send([Self.weight(62, at: -20), Self.weight(72, at: -3000)], to: rig)
            try await rig.sleep(for: .seconds(10))
            #expect(
                !rig.days.contains {
                    $0.summary.day == Fixture.utc.day(of: Fixture.minute(-3000)) && $0.summary.count > 0
                })
            _ = try await rig.ask(.assign(nil, person: "anna"), "a", of: agent)
            try await rig.sleep(for: .seconds(10))
            let day = try #require(rig.days.last)
            #expect(day.summary.count == 1)
            _ = try await rig.ask(.withdraw(Self.id(-3000)), "b", of: agent)
            try await rig.sleep(for: .seconds(10))
            #expect(rig.days.last?.summary.count == 0 && (rig.days.last?.revision ?? 0) > day.revision)
        }
    }
}
