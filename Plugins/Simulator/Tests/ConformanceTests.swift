import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import Simulator

@Suite struct ConformanceTests {
    @Test(arguments: Model.allCases)
    func `does what every driver must do`(model: Model) throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let id = try #require(DeviceID("demo"))
        let options = SimulatorOptions(model: model, seed: 3, historyDays: 2)
        var device = DeviceState(options, seed: 3, calendar: calendar)
        var history: [Metric: [Sample]] = [:]
        for metric in device.capabilities.metrics(with: .history) {
            // The oldest records are forgotten while the suite runs.
            let from = device.oldest(at: Stage.noon) + .hours(1)
            history[metric] = device.samples(
                of: metric, from: from, to: Stage.noon + .milliseconds(1), at: Stage.noon)
            #expect(history[metric]?.isEmpty == false || metric == .sport)
        }
        let expectation = DriverConformance.Expectation(history: history, patience: .minutes(2))
        let findings = try Simulation.run(seed: 1, start: Stage.noon, deadline: .days(1)) { simulation in
            let suite = DriverConformance(expecting: expectation, clock: simulation.gatewayClock) { body in
                let context = SessionContext(
                    device: id, gateway: (name: "test", version: "1"), calendar: calendar,
                    clock: simulation.gatewayClock, logger: LogRecorder().logger)
                try await SimulatorDriver(options).withSession(over: .none, context: context) { session in
                    let simulated = try #require(session as? SimulatedSession)
                    try await body(
                        session,
                        DriverConformance.Peer(
                            disconnect: { simulated.close(DeviceError(.disconnected, "out of reach")) },
                            sendEvents: { firstEvents(of: simulated, at: simulation.date) }))
                }
            }
            return await suite.check()
        }
        #expect(findings.isEmpty, "\(findings)")
    }
}

/// What a device says at the beginning of each session.
private func firstEvents(of session: SimulatedSession, at moment: Timestamp) -> [DeviceEvent] {
    session.device.use { state in
        let battery = state.battery(at: moment)
        let told = DeviceEvent.battery(percent: battery.percent, isCharging: battery.isCharging)
        return state.model == .cuff ? [told] : [told, .wear(isWorn: state.isWorn(at: moment))]
    }
}
