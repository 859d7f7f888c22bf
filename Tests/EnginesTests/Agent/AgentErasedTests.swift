import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Engines

/// What is older than the date from which samples of a device are taken, which stands in place of what was erased.
@Suite struct AgentErasedTests {
    private static let policy: DevicePolicy = {
        var policy = DevicePolicy(calendar: Fixture.utc)
        policy.from = Fixture.minute(-10)
        return policy
    }()

    @Test func `what was measured before the date is not taken, from the history or live, and no gap names its time`()
        throws
    {
        let history = [-30, -20, -10, -5].map { Fixture.heartRate(60, at: $0) }
        try AgentRig.synced(0..<5, content: .init(history: [.heartRate: history]), policy: Self.policy) { rig, _ in
            let live = [Fixture.heartRate(70, at: -15), Fixture.heartRate(71, at: -1)]
            await rig.session?.send(
                .samples(live, receipts: live.indices.map { SampleReceipt("\($0)") }),
                .alert(
                    DeviceAlert(
                        rule: AlertRule(.heartRate, .resting, .high), edge: .raised, value: 120, at: Fixture.minute(-12)
                    ))
            )
            try await rig.wait { state in
                if case .sync(let sync) = state { sync.skipped == ["before_from": 4] } else { false }
            }
            while !rig.calls.contains(where: { $0.kind == .settle }) { try await rig.sleep(for: .milliseconds(1)) }
        } then: { rig in
            let stored = try await rig.store.samples(of: Fixture.device)
            #expect(Set(stored.map(\.sample.start)) == Set([-10, -5, -1].map { Fixture.minute($0) }))
            #expect(rig.gaps.isEmpty)
            let outcomes = rig.calls.flatMap { call -> [SettledReceipt.Outcome] in
                if case .settle(_, let outcomes) = call { outcomes } else { [] }
            }
            #expect(outcomes.count == 2)
            if case .refused? = outcomes.first {} else { Issue.record("the old sample is \(outcomes)") }
            #expect(outcomes.last == .new)
            let record = try await rig.store.base.load(Fixture.device)
            #expect(record.levels.isEmpty)
        }
    }

    @Test func `what a device warned of before the date is refused, and what it warned of since is taken`() throws {
        let capabilities = Capabilities([.heartRate: [.history, .warnings]])
        try AgentRig.synced(0..<10, capabilities: capabilities, policy: Self.policy) { rig, _ in
            let warnings = [-12, -5].map { minute in
                DeviceAlert(
                    rule: AlertRule(.irregularRhythm), edge: .raised, value: nil, at: Fixture.minute(minute))
            }
            let receipts = warnings.indices.map { SampleReceipt("\($0)") }
            await rig.session?.send(.warnings(warnings, receipts: receipts), .alert(warnings[0]))
            try await rig.wait { state in
                if case .sync(let sync) = state { sync.skipped == ["before_from": 2] } else { false }
            }
            while rig.calls.allSatisfy({ $0.kind != .settle }) { try await rig.sleep(for: .milliseconds(1)) }
        } then: { rig in
            guard case .settle(_, let outcomes) = rig.calls.first(where: { $0.kind == .settle }) else { return }
            #expect(outcomes == [.refused(SampleIngest.tooOld), .new])
            let moments = rig.store.facts.compactMap { fact -> Timestamp? in
                if case .alert(let event, _) = fact.content { event.measuredAt } else { nil }
            }
            #expect(moments == [Fixture.minute(-5)])
        }
    }

    @Test func `a device hears of each of its alerts whether it is new, known, or refused`() throws {
        try AgentRig.synced(0..<5, policy: Self.policy) { rig, _ in
            let (low, none) = (AlertRule(.bloodOxygen, .low), AlertRule(.bloodGlucose, .high))
            let alerts = [(low, -12), (low, -5), (low, -4), (none, -4)].map { rule, minute in
                DeviceAlert(rule: rule, edge: .raised, value: 80, at: Fixture.minute(minute))
            }
            await rig.session?.send(.alerts(alerts, receipts: alerts.indices.map { SampleReceipt("\($0)") }))
            while rig.calls.allSatisfy({ $0.kind != .settle }) { try await rig.sleep(for: .milliseconds(1)) }
        } then: { rig in
            guard case .settle(_, let outcomes) = rig.calls.first(where: { $0.kind == .settle }) else { return }
            #expect(
                outcomes == [.refused(SampleIngest.tooOld), .new, .known, .refused(SampleIngest.undeclared)])
            #expect(rig.levels.filter(\.isActive).map(\.rule) == [AlertRule(.bloodOxygen, .low)])
        }
    }

    @Test func `an erasure covers its part before its moment, and touches what combines all users`() {
        let erasures = Erasures([.user(2): Fixture.noon, .user(nil): Fixture.minute(-60)])
        #expect(erasures.cover(Fixture.minute(-1), user: 2))
        #expect(!erasures.cover(Fixture.noon, user: 2))
        #expect(!erasures.cover(Fixture.minute(-90), user: 1))
        #expect(erasures.cover(Fixture.minute(-90), user: nil) && !erasures.cover(Fixture.minute(-1), user: nil))
        #expect(erasures.touch(Fixture.minute(-1)) && !erasures.touch(Fixture.noon))
        #expect(Erasures([.device: Fixture.noon]).cover(Fixture.minute(-1), user: 7))
        #expect(!Erasures().cover(.earliest, user: nil) && !Erasures().touch(.earliest))
    }

    @Test func `a device without user slots is its person's, and of a shared one each slot with the name`() {
        #expect(Wearers(person: "anna").parts(of: "anna") == [.device])
        #expect(Wearers(person: "anna").parts(of: "ben").isEmpty)
        #expect(Wearers().parts(of: "").isEmpty)
        let shared = Wearers(person: "anna", people: [1: "ben", 2: "anna", 3: "anna"])
        #expect(shared.parts(of: "anna") == [.user(nil), .user(2), .user(3)])
        #expect(shared.parts(of: "ben") == [.user(1)])
    }
}
