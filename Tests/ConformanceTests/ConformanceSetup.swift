import Conformance
import GatewayKit
import GatewayTesting
import TestSupport
import Vitals

/// A scripted device with all parts that the suite can check, and its known content.
struct ConformanceSetup: Sendable {
    static let start = Simulation.defaultStart

    var description = DeviceDescription(
        identity: DeviceIdentity(model: "Script"),
        capabilities: Capabilities([
            .heartRate: [
                .measure, .monitor, .scheduleTime, .scheduleInterval, .history, .restAlert, .exerciseAlert, .enhanced,
            ],
            .bloodPressure: [.monitor, .alert], .sleep: [.history, .summary],
        ]),
        clock: DeviceClock(now: start, utcOffset: 60))
    var content: ScriptedSession.Content
    var expectation: DriverConformance.Expectation
    var sendsTooFewSafeSamples = false

    init() {
        let limits = AlertLimits(isEnabled: true, lower: 40, upper: 100)
        let schedule = MonitorSchedule(isEnabled: true, start: 60, end: 120, interval: 5)
        let day = LocalDay(number: Int(Self.start.milliseconds / 86_400_000))
        content = ScriptedSession.Content(
            history: [
                .heartRate: (0..<30).map {
                    Sample(metric: .heartRate, start: Self.start + .minutes($0), reading: .value(60))
                }
            ],
            summaries: [
                .sleep: (0..<3).map {
                    DailySummary(
                        metric: .sleep, day: day.advanced(by: $0), count: 1, manualCount: 0, average: nil,
                        details: .sleep(.init(asleep: 400 + $0)))
                }
            ],
            monitors: [
                .heartRate: MonitorConfiguration.fixture(
                    of: .heartRate, schedule: schedule, limits: [.resting: limits, .exercise: limits],
                    exerciseMaximum: 180),
                .bloodPressure: MonitorConfiguration.fixture(
                    of: .bloodPressure, schedule: schedule,
                    limits: [
                        .systolic: AlertLimits(isEnabled: false, lower: 90, upper: 140),
                        .diastolic: AlertLimits(isEnabled: false, lower: 60, upper: 90),
                    ]),
            ],
            measurements: [.heartRate: .init(readings: [(.zero, .value(61))])])
        expectation = DriverConformance.Expectation(
            history: content.history, summaries: content.summaries, summaryDays: day...day.advanced(by: 2),
            disconnectsGracefully: true)
    }

    /// Runs the suite in simulated time against the session that `wrap` returns for the device.
    func check(
        seed: UInt64 = 1, _ wrap: @escaping @Sendable (ScriptedSession) -> any DeviceSession = { $0 }
    ) throws -> [String] {
        try Simulation.run(seed: seed, deadline: .days(1)) { environment in
            await suite(clock: environment.gatewayClock, expecting: .seconds(1), wrap).check().map(\.description)
        }
    }

    func suite(
        clock: GatewayClock, expecting duration: Duration,
        _ wrap: @escaping @Sendable (ScriptedSession) -> any DeviceSession = { $0 }
    ) -> DriverConformance {
        var expectation = expectation
        expectation.measurementDuration = duration
        return DriverConformance(expecting: expectation, clock: clock) { body in
            let session = ScriptedSession(description, content: content, clock: clock)
            session.refuseNonsense()
            let wrapped = wrap(session)
            try await withThrowingTaskGroup { group in
                group.addTask { await session.run() }
                defer { group.cancelAll() }
                try await body(wrapped, peer(of: session, as: wrapped))
            }
        }
    }

    private func peer(of session: ScriptedSession, as wrapped: any DeviceSession) -> DriverConformance.Peer {
        DriverConformance.Peer(
            disconnect: {
                session.disconnect()
                (wrapped as? FaultySession)?.letGo()
            },
            sendEvents: {
                let sample = Sample(metric: .stress, start: Self.start, reading: .value(20))
                let events: [DeviceEvent] = [
                    .wear(isWorn: true), .battery(percent: 50, isCharging: false),
                    .samples([sample, sample], receipts: []),
                    .alert(DeviceAlert(rule: AlertRule(.bloodOxygen, .low), edge: .raised, value: 88, at: Self.start)),
                ]
                for event in events { await session.send(event) }
                return events
            },
            sendSafeSamples: {
                let samples = (0..<(sendsTooFewSafeSamples ? 2 : 4)).map {
                    DriverConformance.SafeSample(
                        "r\($0)",
                        Sample(metric: .stress, start: Self.start + .minutes($0), reading: .value(20)))
                }
                await session.send(.samples(samples.map(\.sample), receipts: samples.map { SampleReceipt($0.name) }))
                return samples
            },
            fallSilent: { session.behave { _ in .hang } },
            deviceCalls: { _ in session.calls.flatMap(\.deviceCalls) })
    }
}

extension ScriptedSession {
    /// Refuses settings that no device can follow.
    fileprivate func refuseNonsense() {
        behave { [description] call in
            guard case .setMonitorConfiguration(let configuration) = call,
                description.capabilities.supports(.monitor, configuration.metric)
            else { return .answer }
            let changed = Set(configuration.leaves.map { MonitorSetting(configuration.metric, $0.field) })
            let isPossible = MonitorSettings([configuration]).violations(capabilities: nil, changed: changed).isEmpty
            return isPossible ? .answer : .fail(DeviceError(.invalid, "That is nonsense."))
        }
    }
}

extension ScriptedSession.Call {
    /// The message to the device in this call.
    fileprivate var deviceCalls: [DriverConformance.DeviceCall] {
        switch self {
        case .setClock(let now, let offset): [.clock(now, utcOffset: offset)]
        case .acknowledgeHistory(let metric, let through): [.acknowledged(metric, through: through)]
        case .settle(let receipts, let outcomes):
            zip(receipts, outcomes).map { receipt, outcome in
                .settled(receipt.mark, isDurable: SettledReceipt(receipt, outcome).refusal == nil)
            }
        case .shutdown: [.disconnect]
        default: []
        }
    }
}
