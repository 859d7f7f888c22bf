import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The states of a connected device: whether it is worn and charging, and its signal strength.
@Suite struct AgentStateTests {
    private func wear(_ rig: AgentRig) -> [WearState] {
        rig.states.compactMap(\.asWear)
    }

    @Test func `whether it is worn and charged is published, and not known once it is offline`() throws {
        try AgentRig.synced(0..<10) { rig, _ in
            await rig.session?.send(.wear(isWorn: true), .battery(percent: 40, isCharging: nil))
            await rig.session?.send(.wear(isWorn: true), .battery(percent: 41, isCharging: true))
            try await rig.wait { $0.asWear?.isCharging == true }
            await rig.session?.send(.wear(isWorn: false))
            try await rig.wait { $0.asWear?.isWorn == false }
            rig.open(.hang)
            rig.session?.disconnect()
            try await rig.waitForLink(.waiting)
        } then: { rig in
            #expect(wear(rig).map(\.isWorn) == [nil, true, true, false, nil])
            #expect(wear(rig).map(\.isCharging) == [nil, nil, true, true, nil])
        }
    }

    @Test func `the strength of its signal stands in the link, where it is reported or asked for`() throws {
        try AgentRig.synced(0..<10) { rig, _ in
            await rig.session?.send(.signal(strength: -60))
            try await rig.wait { $0.asLink?.signalStrength == -60 }
            rig.change { $0.signalStrength = -72 }
            try await rig.wait { $0.asLink?.signalStrength == -72 }
            #expect(rig.uptime < .minutes(2))
            let count = rig.count
            rig.open(.hang)
            rig.session?.disconnect()
            try await rig.wait(after: count) { $0.asLink.map { $0.signalStrength == nil } == true }
        }
    }
}
