import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// What a device hears of samples with receipts.
@Suite struct AgentReceiptTests {
    @Test func `the device hears what was new, corrected and known`() throws {
        try AgentRig.synced(0..<10) { rig, _ in
            let count = { @Sendable in rig.calls.count { $0.kind == .settle } }
            for (number, samples) in [
                [Fixture.heartRate(60, at: 0), Fixture.heartRate(61, at: -1)],
                [Fixture.heartRate(60, at: 0), Fixture.heartRate(62, at: -1), Fixture.heartRate(60, at: -2)],
            ].enumerated() {
                let receipts = samples.indices.map { SampleReceipt("\(number).\($0)") }
                await rig.session?.send(.samples(samples, receipts: receipts))
                while count() <= number { try await rig.sleep(for: .milliseconds(1)) }
            }
        } then: { rig in
            let outcomes = rig.calls.flatMap { call -> [SettledReceipt.Outcome] in
                if case .settle(_, let outcomes) = call { outcomes } else { [] }
            }
            #expect(outcomes == [.new, .new, .known, .corrected, .new])
        }
    }
}
