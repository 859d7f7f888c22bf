import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentLimitTests {
    @Test func `a device that does not answer a graceful disconnect holds up nobody for longer than two seconds`()
        throws
    {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            let agent = rig.makeAgent()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await rig.run(agent) }
                try await rig.waitForSync()
                rig.behave { $0 == .shutdown ? .hang : .answer }
                let stopped = environment.uptime
                agent.stop()
                try await group.waitForAll()
                #expect(environment.uptime - stopped >= DeviceTimeouts.shutdown)
                #expect(environment.uptime - stopped < DeviceTimeouts.shutdown + .milliseconds(100))
            }
            #expect(rig.calls.last == .shutdown)
        }
    }

    @Test func `no more than ninety days of a device's own summaries are asked for, unless a command names a range`()
        throws
    {
        let policy = DevicePolicy(sync: SyncPolicy(first: nil), calendar: Fixture.utc)
        try AgentRig.synced(
            0..<3, capabilities: Capabilities([.heartRate: [.history, .summary]]), policy: policy
        ) { rig, _ in
            let asked = rig.calls.compactMap { call -> ClosedRange<LocalDay>? in
                if case .summaries(.heartRate, let days) = call { days } else { nil }
            }
            let today = Fixture.utc.day(of: Fixture.noon)
            #expect(asked == [today.advanced(by: 1 - SyncPolicy.maximumSummaryDays)...today])
        }
    }
}
