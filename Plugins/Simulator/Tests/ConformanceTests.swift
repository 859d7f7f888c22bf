import Conformance
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Simulator

@Suite struct ConformanceTests {
    private let calendar: LocalCalendar
    private let id: DeviceID

    init() throws {
        calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        id = try #require(DeviceID("demo"))
    }

    @Test(arguments: Model.allCases)
    func `does what every driver must do`(model: Model) throws {
        let options = SimulatorOptions(model: model, seed: 3, historyDays: 4)
        let violations = try run(options) { await $0.check() }
        #expect(violations.isEmpty, "\(violations)")
    }

    /// Only the fault `hang`, at probability 1, silences a simulated device.
    @Test(arguments: Model.allCases)
    func `does what every driver must do while the device hangs`(model: Model) throws {
        var options = SimulatorOptions(model: model, seed: 3, historyDays: 4)
        options.faults.hang = 1
        let violations = try run(options, fallSilent: {}) { await $0.run(.silence) + $0.run(.interruption) }
        #expect(violations.isEmpty, "\(violations)")
    }

    private func run(
        _ options: SimulatorOptions, fallSilent: (@Sendable () async -> Void)? = nil,
        _ check: @escaping @Sendable (DriverConformance) async -> [DriverConformance.Violation]
    ) throws -> [DriverConformance.Violation] {
        let expectation = try expectation(of: options)
        return try Simulation.run(seed: 1, start: Setup.noon, deadline: .days(10)) { [calendar, id] simulation in
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
                            sendEvents: { nextEvents(of: simulated, from: simulation.date) },
                            fallSilent: fallSilent,
                            deviceCalls: { _ in deviceCalls(simulated, at: simulation.date) }))
                }
            }
            return await check(suite)
        }
    }

    /// The expected content of a device with these options, read from the device itself.
    private func expectation(of options: SimulatorOptions) throws -> DriverConformance.Expectation {
        var device = DeviceState(options, seed: 3, calendar: calendar)
        var history: [Metric: [Sample]] = [:]
        for metric in device.capabilities.metrics(with: .history) {
            // Older records may be dropped from the history while the suite runs.
            let from = Setup.noon - .days(2)
            history[metric] = device.samples(
                of: metric, from: from, to: Setup.noon + .milliseconds(1), at: Setup.noon)
            #expect(history[metric]?.isEmpty == false || metric == .sport)
        }
        // Today's summary changes while the suite runs.
        let yesterday = calendar.day(of: Setup.noon).advanced(by: -1)
        let days = yesterday.advanced(by: -1)...yesterday
        var summaries: [Metric: [DailySummary]] = [:]
        for metric in device.capabilities.metrics(with: .summary) {
            summaries[metric] = try device.summaries(of: metric, days: days, device: id, at: Setup.noon)
            #expect(summaries[metric]?.isEmpty == false || metric == .sport)
        }
        // A cuff has new values only twice a day, a scale only in the morning.
        return DriverConformance.Expectation(
            history: history, summaries: summaries, summaryDays: days, timeout: .days(3))
    }
}

/// A device's next events: its battery and whether it is worn, then live samples, and an alert if it can raise one.
private func nextEvents(of session: SimulatedSession, from moment: Timestamp) -> [DeviceEvent] {
    session.device.use { state in
        if state.capabilities.supports(.restAlert, .heartRate) {
            // Every simulated heart is slower.
            state.settings.merge([
                MonitorSetting(.heartRate, .enabled(.resting)): .toggle(true),
                MonitorSetting(.heartRate, .lower(.resting)): .number(290),
                MonitorSetting(.heartRate, .upper(.resting)): .number(299),
            ])
        }
        var copy = state
        var feed = LiveFeed(from: moment)
        var events: [DeviceEvent] = []
        var moment = moment
        while events.count(where: \.isLive) < 3 {
            events += feed.due(at: moment, from: &copy)
            moment = feed.next(after: moment, &copy)
        }
        return events
    }
}

/// What the gateway has sent to a device.
private func deviceCalls(_ session: SimulatedSession, at moment: Timestamp) -> [DriverConformance.DeviceCall] {
    session.device.use { state in
        [.clock(state.time(moment), utcOffset: nil)]
            + state.acknowledgedThrough.map { .acknowledged($0.key, through: $0.value) }
    }
}

extension DeviceEvent {
    fileprivate var isLive: Bool { if case .samples = self { true } else { false } }
}
