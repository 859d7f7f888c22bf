import Conformance
import Foundation
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import PhoneExports

@Suite struct GadgetbridgeConformanceTests {
    @Test func `does what every driver must do`() throws {
        let phone = try Phone()
        let midnight = Phone.midnight
        try phone.table("PINE_TIME_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, HEART_RATE I!")
        try phone.table("GENERIC_STRESS_SAMPLE", "STRESS I!")
        try phone.insert(
            "PINE_TIME_ACTIVITY_SAMPLE",
            (0..<2500).map { [midnight + $0 * 60, $0 % 700 < 90 ? 2 : 1, $0 % 7, 50 + $0 % 90] })
        try phone.insert("GENERIC_STRESS_SAMPLE", [[midnight * 1000, 20], [midnight * 1000 + 1, 21]])
        var history: [Metric: [Sample]] = [:]
        for metric in [Metric.heartRate, .steps, .stress, .sleep] {
            history[metric] = try phone.samples(metric, zone: "Europe/Berlin", limit: 2000)
            #expect(history[metric]?.isEmpty == false)
        }
        #expect(history[.heartRate]?.count == 2500)
        let expectation = DriverConformance.Expectation(history: history, timeout: .hours(1))
        let violations = try Simulation.run(seed: 1, start: Phone.at(60), deadline: .days(10)) { simulation in
            let suite = DriverConformance(expecting: expectation, clock: simulation.gatewayClock) { body in
                let driver = GadgetbridgeDriver(
                    GadgetbridgeOptions(path: phone.file.path), reading: simulation.executor.serialExecutor(),
                    opening: simulation.executor.serialExecutor())
                let context = try Phone.context(clock: simulation.gatewayClock, zone: "Europe/Berlin")
                try await driver.withSession(over: .none, context: context) { session in
                    let own = try #require(session as? ExportSession)
                    try await body(
                        session,
                        DriverConformance.Peer(
                            disconnect: { own.close(DeviceError(.disconnected, "The export is out of reach.")) }))
                }
            }
            return await suite.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }
}
