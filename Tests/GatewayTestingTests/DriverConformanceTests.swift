import Foundation
import GatewayKit
import GatewayTesting
import Testing
import Vitals

/// The suite must be content with a device that does everything right, and find each thing that one does wrong.
@Suite(.timeLimit(.minutes(1)))
struct DriverConformanceTests {
    @Test(arguments: UInt64(0)..<20)
    func `finds nothing wrong with a device that does everything right`(seed: UInt64) throws {
        #expect(try Self.check(seed: seed) { $0 } == [])
    }

    @Test func `runs on the system's clock, too`() async {
        let findings = await Self.suite(clock: .system, expecting: .milliseconds(1)) { $0 }.check()
        #expect(findings == [])
    }

    @Test func `finds abilities that mean nothing`() throws {
        let findings = try Self.check(
            capabilities: Capabilities(
                [
                    .stress: [.restAlert], .temperature: [.scheduleTime], .steps: [.monitor, .measure],
                    .battery: [.history], .heartRate: [.alert],
                ], maximumHistoryDays: 0)
        ) { $0 }
        for text in [
            "stress has abilities that only heart rate has", "temperature has a schedule that can be set",
            "steps cannot be monitored", "steps cannot be measured", "battery has no history",
            "heart_rate has rest_alert", "max_history_days is 0",
        ] {
            #expect(findings.contains { $0.contains(text) }, "\(text) is not among \(findings)")
        }
    }

    @Test(arguments: Mistake.allCases)
    func `finds a mistake`(mistake: Mistake) throws {
        let findings = try Self.check { MistakenSession(session: $0, mistake: mistake) }
        #expect(
            findings.contains { $0.contains(mistake.finding) }, "\(mistake.finding) is not among \(findings)")
    }

    private static let start = Simulation.defaultStart
    private static let limits = AlertLimits(isEnabled: true, lower: 40, upper: 100)
    private static let capabilities = Capabilities([
        .heartRate: [
            .measure, .monitor, .scheduleTime, .scheduleInterval, .history, .restAlert, .exerciseAlert, .enhanced,
        ],
        .bloodPressure: [.monitor, .alert], .sleep: [.history],
    ])

    private static func check(
        seed: UInt64 = 1, capabilities: Capabilities = capabilities,
        _ wrap: @escaping @Sendable (ScriptedSession) -> any DeviceSession
    ) throws -> [String] {
        try Simulation.run(seed: seed, deadline: .days(1)) { world in
            await suite(clock: world.gatewayClock, expecting: .seconds(1), capabilities: capabilities, wrap).check()
        }
    }

    private static func suite(
        clock: GatewayClock, expecting duration: Duration, capabilities: Capabilities = capabilities,
        _ wrap: @escaping @Sendable (ScriptedSession) -> any DeviceSession
    ) -> DriverConformance {
        let rates = (0..<30).map { Sample(metric: .heartRate, start: start + .minutes($0), reading: .value(60)) }
        let schedule = MonitorSchedule(isEnabled: true, start: 60, end: 120, interval: 5)
        let content = ScriptedSession.Content(
            history: [.heartRate: rates],
            monitors: [
                .heartRate: MonitorConfiguration(
                    schedule: schedule, restingAlert: limits, exerciseAlert: limits, exerciseMaximum: 180),
                .bloodPressure: MonitorConfiguration(
                    schedule: schedule,
                    pressureAlert: BloodPressureLimits(
                        isEnabled: false, systolicLower: 90, systolicUpper: 140, diastolicLower: 60,
                        diastolicUpper: 90)),
            ],
            measurements: [.heartRate: .init(readings: [(.zero, .value(61))])])
        let expectation = DriverConformance.Expectation(
            history: capabilities.supports(.history, .heartRate) ? content.history : [:],
            measurementDuration: duration)
        return DriverConformance(expecting: expectation, clock: clock) { body in
            let session = ScriptedSession(
                DeviceDescription(identity: DeviceIdentity(model: "Script"), capabilities: capabilities),
                content: content, clock: clock)
            try await withThrowingTaskGroup { group in
                group.addTask { await session.run() }
                defer { group.cancelAll() }
                let events: [DeviceEvent] = [.wear(isWorn: true), .battery(percent: 50, isCharging: false)]
                let peer = DriverConformance.Peer(
                    disconnect: { session.disconnect() },
                    sendEvents: {
                        for event in events { await session.send(event) }
                        return events
                    })
                try await body(wrap(session), peer)
            }
        }
    }
}

enum Mistake: CaseIterable, Sendable {
    case repeatsRecords, includesTheEnd, ignoresTheLimit, repeatsThePage, descends, losesRecords
    case answersWhatItCannot, ignoresConfigurations, forgetsOtherParts
    case acceptsTwoMeasurements, neverEndsMeasurements, completesStoppedMeasurements
    case swallowsEvents, neverEnds, breaksWhenCancelled, staysAtGoodbye

    var finding: String {
        switch self {
        case .repeatsRecords: "records come twice"
        case .includesTheEnd: "1 that are not the device's"
        case .ignoresTheLimit: "a page of 1 has 30 records"
        case .repeatsThePage: "comes again and again"
        case .descends: "do not ascend"
        case .losesRecords: "1 missing"
        case .answersWhatItCannot: "history of stress succeeded; it should throw unsupported"
        case .ignoresConfigurations, .forgetsOtherParts: "is read instead of"
        case .acceptsTwoMeasurements: "a second measurement succeeded; it should throw busy"
        case .neverEndsMeasurements: "the measurement of heart_rate did not end within"
        case .completesStoppedMeasurements: "a stopped measurement says that it was completed"
        case .swallowsEvents: "waiting for wear(isWorn: true) did not end"
        case .neverEnds: "the end of the events did not end"
        case .breaksWhenCancelled: "cancellation: failed"
        case .staysAtGoodbye: "saying goodbye did not end"
        }
    }
}
