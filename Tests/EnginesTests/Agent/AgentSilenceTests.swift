import Engines
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

/// What makes a device yield nothing is in the log, with what to do.
@Suite struct AgentSilenceTests {
    private static func warnings(_ rig: AgentRig, _ text: String) -> [LogRecorder.Entry] {
        rig.log.entries.filter { $0.level == .warning && $0.message.contains(text) }
    }

    @Test func `a device that cannot be connected is said once, and then seldom, with the reason`() throws {
        try AgentRig.running(given: { $0.refuse(1_000) }) { rig, _ in
            try await rig.sleep(for: .minutes(90))
        } then: { rig in
            let said = Self.warnings(rig, "The device cannot be connected; trying again.")
            #expect(said.first?.metadata["failures"] == "1")
            #expect(said.first?.metadata["error"] == "It is offline.")
            // About 20 attempts fail, with waits of at most five minutes.
            #expect((5...8).contains(said.count))
        }
    }

    @Test func `a first synchronisation that finds nothing says once how to read older records`() throws {
        let policy = DevicePolicy(calendar: Fixture.utc)
        try AgentRig.running(
            content: .init(history: [.heartRate: [Fixture.heartRate(60, at: -31 * 24 * 60)]]), policy: policy
        ) { rig, agent in
            try await rig.waitForSync()
            #expect(try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent).status == .done)
        } then: { rig in
            let said = Self.warnings(rig, "set sync: {first: all}")
            #expect(said.count == 1)
            #expect(said.first?.metadata["first"] == "30d")
        }
    }

    @Test(arguments: [true, false])
    func `a device with records, or whose whole history is read, has no such warning`(readsAll: Bool) throws {
        var policy = DevicePolicy(calendar: Fixture.utc)
        if readsAll { policy.sync.first = nil }
        let history = readsAll ? [] : [Fixture.heartRate(60, at: -10)]
        try AgentRig.running(content: .init(history: [.heartRate: history]), policy: policy) { rig, _ in
            try await rig.waitForSync()
        } then: { rig in
            #expect(Self.warnings(rig, "first synchronisation").isEmpty)
        }
    }
}
