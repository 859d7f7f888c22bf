import Conformance
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import GATTHealth

@Suite struct ConformanceTests {
    @Test(arguments: [UInt64(1), 2, 3]) func `does what every driver must do`(seed: UInt64) throws {
        let violations = try Simulation.run(seed: seed, start: ScriptedClinic.moment(24 * 60), deadline: .days(2)) {
            simulation in
            let clock = simulation.gatewayClock
            let expectation = DriverConformance.Expectation(history: ScriptedClinic.history, hasSettableClock: true)
            return await DriverConformance(expecting: expectation, clock: clock) { body in
                let faults = GATTFaults(delay: .milliseconds(1)...(.milliseconds(30)))
                let clinic = ScriptedClinic(clock: clock, faults: faults, random: simulation.random())
                let device = clinic.peripheral
                let id = try #require(DeviceID("clinic"))
                try await HealthDriver(HealthOptions()).withSession(
                    over: .gatt(device.link), context: .testing(id, clock: clock)
                ) { session in
                    let peer = DriverConformance.Peer(
                        disconnect: { device.disconnect() },
                        sendEvents: {
                            device.send([0x04, 0], from: 0x2a37)
                            device.send([80], from: 0x2a19)
                            device.send([0x00, 98, 0, 66, 0], from: 0x2a5f)
                            // The value comes with a delay.
                            return [.wear(isWorn: false), .battery(percent: 80, isCharging: nil)]
                        },
                        fallSilent: { device.fallSilent() })
                    try await body(session, peer)
                }
            }.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }
}
