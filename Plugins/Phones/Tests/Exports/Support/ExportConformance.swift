import Conformance
import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import Phones

/// What every driver must do, with a driver of exports in Berlin.
enum ExportConformance {
    /// Expects it of a driver with these options, whose device has these metrics, 2,500 heart rates among them.
    static func expect<Format: ExportFormat>(
        of options: Format, at start: Timestamp, with metrics: [Metric], read: (Metric) throws -> [Sample],
        context makeContext: @escaping @Sendable (GatewayClock) throws -> SessionContext,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var history: [Metric: [Sample]] = [:]
        for metric in metrics {
            history[metric] = try read(metric)
            #expect(history[metric]?.isEmpty == false, sourceLocation: sourceLocation)
        }
        #expect(history[.heartRate]?.count == 2500, sourceLocation: sourceLocation)
        let expectation = DriverConformance.Expectation(history: history, timeout: .hours(1))
        let violations = try Simulation.run(seed: 1, start: start, deadline: .days(10)) { simulation in
            let suite = DriverConformance(expecting: expectation, clock: simulation.gatewayClock) { body in
                let driver = ExportDriver(options, in: simulation)
                let context = try makeContext(simulation.gatewayClock)
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
        #expect(violations.isEmpty, "\(violations)", sourceLocation: sourceLocation)
    }
}
