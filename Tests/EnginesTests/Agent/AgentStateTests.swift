import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The states of a connected device: whether it is worn and charging, and its signal strength.
@Suite struct AgentStateTests {
    private func wear(_ rig: AgentRig) -> [WearState] {
        rig.states.compactMap { if case .wear(let state) = $0 { state } else { nil } }
    }

    @Test func `whether it is worn and charged is published, and not known once it is offline`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await rig.session?.send(.wear(isWorn: true), .battery(percent: 40, isCharging: nil))
                await rig.session?.send(.wear(isWorn: true), .battery(percent: 41, isCharging: true))
                try await rig.wait { if case .wear(let state) = $0 { state.isCharging == true } else { false } }
                await rig.session?.send(.wear(isWorn: false))
                try await rig.wait { if case .wear(let state) = $0 { state.isWorn == false } else { false } }
                rig.open(.hang)
                rig.session?.disconnect()
                try await rig.waitForLink(.waiting)
            }
            #expect(wear(rig).map(\.isWorn) == [nil, true, true, false, nil])
            #expect(wear(rig).map(\.isCharging) == [nil, nil, true, true, nil])
        }
    }

    @Test func `the strength of its signal stands in the link, where it is reported or asked for`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await rig.session?.send(.signal(strength: -60))
                try await rig.wait { if case .link(let link) = $0 { link.signalStrength == -60 } else { false } }
                rig.change { $0.signalStrength = -72 }
                try await rig.wait { if case .link(let link) = $0 { link.signalStrength == -72 } else { false } }
                #expect(environment.uptime < .minutes(2))
                let count = rig.count
                rig.open(.hang)
                rig.session?.disconnect()
                try await rig.wait(after: count) {
                    if case .link(let link) = $0 { link.signalStrength == nil } else { false }
                }
            }
        }
    }
}
