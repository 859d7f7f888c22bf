import Engines
import GatewayKit
import TestSupport
import Vitals

/// Values shared by the tests of the engines. Minutes count from `noon`.
enum Fixture {
    static let device: DeviceID = {
        guard let id = DeviceID("band-1") else { preconditionFailure("band-1 is an identifier") }
        return id
    }()
    static let utc: LocalCalendar = {
        guard let calendar = LocalCalendar(identifier: "UTC") else { preconditionFailure("UTC is a zone") }
        return calendar
    }()
    static let berlin: LocalCalendar = {
        guard let calendar = LocalCalendar(identifier: "Europe/Berlin") else { preconditionFailure("no zone files") }
        return calendar
    }()
    /// 2026-11-21T12:00:00Z
    static let noon = Timestamp(seconds: 1_795_262_400)

    static func minute(_ minute: Int) -> Timestamp { noon + .minutes(minute) }

    static func heartRate(
        _ value: Double, at minute: Int, isExercise: Bool? = nil, kind: Sample.Kind = .normal, isManual: Bool = false
    ) -> Sample {
        Sample(
            metric: .heartRate, start: self.minute(minute), kind: kind, isUserInitiated: isManual,
            isExercise: isExercise, reading: .value(value))
    }

    static func sample(_ metric: Metric, _ value: Double, at minute: Int) -> Sample {
        Sample(metric: metric, start: self.minute(minute), reading: .value(value))
    }

    static func steps(_ count: Int, at minute: Int, lasting length: Int = 10) -> Sample {
        Sample(
            metric: .steps, start: self.minute(minute), end: self.minute(minute + length),
            reading: .count(Increment(count: count)))
    }

    static func workout(at minute: Int, lasting length: Int) -> Sample {
        Sample(
            metric: .sport, start: self.minute(minute), end: self.minute(minute + length),
            reading: .sport(Sport(activity: "running")))
    }

    static func stored(_ sample: Sample, revision: Int = 1) -> StoredSample {
        StoredSample(sample: sample, of: device, revision: revision, receivedAt: sample.end)
    }

    static func new(_ sample: Sample) -> SampleOutcome { SampleOutcome(stored: stored(sample), novelty: .new) }

    /// Resting heart rate 50–100, exercise 60–180, blood pressure 90–140 over 60–90, blood oxygen 90–100.
    static let limits = MonitorSettings.fixture(limits: [
        .heartRate: [.resting: 50...100, .exercise: 60...180],
        .bloodPressure: [.systolic: 90...140, .diastolic: 60...90], .bloodOxygen: [.value: 90...100],
    ])

    static let restingHigh = AlertRule(.heartRate, .resting, .high)
    static let restingLow = AlertRule(.heartRate, .resting, .low)
}

/// What a projection decides, and the projection after it.
@dynamicMemberLookup
struct Recording {
    var outcome: IngestOutcome
    var projection: SampleProjection

    init(_ former: SampleProjection, _ body: (inout SampleProjection) -> IngestOutcome) {
        projection = former
        outcome = body(&projection)
    }

    subscript<Value>(dynamicMember member: KeyPath<IngestOutcome, Value>) -> Value { outcome[keyPath: member] }
}

extension SampleProjection {
    func recording(_ outcomes: [SampleOutcome], in context: IngestContext) -> Recording {
        Recording(self) { $0.record(outcomes, in: context) }
    }

    func recording(_ alert: DeviceAlert, in context: IngestContext) -> Recording {
        Recording(self) { $0.record(alert, in: context) }
    }

    func recording(warnings: [DeviceAlert], in context: IngestContext) -> Recording {
        Recording(self) { $0.record(warnings: warnings, in: context) }
    }

    func recording(
        limitsOf settings: MonitorSettings, before: MonitorSettings, in context: IngestContext
    ) -> Recording {
        Recording(self) { $0.record(limitsOf: settings, before: before, in: context) }
    }
}
