/// A limit that is watched: of which value, and on which side. Its name is `<metric>_<what>_<high|low>`, such as
/// `heart_rate_resting_high` or `blood_oxygen_low`. Or what a device warns of, whose limits nobody here knows.
public struct AlertRule: Sendable, Hashable {
    /// The metric of the limit.
    public var metric: Metric
    /// The watched value of the metric.
    public var subject: Subject
    /// On which side of the limits an alert is raised.
    public var side: Side
    /// What a device warns of by itself; `nil` for a rule with limits. A warning is a moment: it is raised, and never cleared, so
    /// that it has no level.
    public private(set) var warning: Warning?

    /// The watched value: resting or exercise for heart rate, both pressures for blood pressure, the only value for the
    /// others (`Metric.alertSubjects`), and how fast it changes, in its unit per minute (``RateOfChange``).
    public enum Subject: String, CaseIterable, Sendable, Hashable {
        case value, resting, exercise, systolic, diastolic, rate
    }
    /// Which limit must not be passed.
    public enum Side: String, CaseIterable, Sendable, Hashable { case high, low }
    /// What devices warn of by themselves. The raw value is the rule's name.
    public enum Warning: String, CaseIterable, Sendable, Hashable {
        /// The heart rate was above the watch's threshold for some minutes without exercise.
        case highHeartRate = "heart_rate_warning_high"
        /// The heart rate was below it.
        case lowHeartRate = "heart_rate_warning_low"
        /// The rhythm looked like atrial fibrillation.
        case irregularRhythm = "heart_rhythm_irregular"
        /// An ECG shows atrial fibrillation.
        case fibrillation = "ecg_atrial_fibrillation"
        /// The heart rate of an ECG is too high, whether or not it tells the rhythm.
        case highInECG = "ecg_high_heart_rate"
        /// It is too low to tell the rhythm.
        case lowInECG = "ecg_low_heart_rate"
        /// An ECG does not tell the rhythm, for another reason.
        case inconclusive = "ecg_inconclusive"
    }

    /// A rule.
    public init(_ metric: Metric, _ subject: Subject, _ side: Side) {
        self.metric = metric
        self.subject = subject
        self.side = side
    }

    /// A rule for a metric with one value.
    public init(_ metric: Metric, _ side: Side) { self.init(metric, .value, side) }

    /// The rule of what a device warns of. All of them are about the heart: values are heart rates.
    public init(_ warning: Warning) {
        self.init(.heartRate, .value, warning == .lowHeartRate || warning == .lowInECG ? .low : .high)
        self.warning = warning
    }

    /// The rule's name on the wire.
    public var name: String {
        if let warning { return warning.rawValue }
        return subject == .value
            ? "\(metric.rawValue)_\(side.rawValue)" : "\(metric.rawValue)_\(subject.rawValue)_\(side.rawValue)"
    }

    /// The unit of its values and limits; `nil` for stress.
    public var unit: String? { subject == .rate ? metric.unit.map { "\($0)/min" } : metric.unit }

    /// The values that its limits may have; `nil` if any.
    public var range: ClosedRange<Double>? { subject == .rate ? RateOfChange.bounds : metric.range }

    /// The rules of what devices warn of, in the order of the warnings.
    public static let warnings = Warning.allCases.map { AlertRule($0) }

    /// All rules with limits, ordered by metric, subject and side.
    public static let all: [AlertRule] = Metric.monitored.flatMap { metric in
        metric.alertSubjects.flatMap { subject in Side.allCases.map { AlertRule(metric, subject, $0) } }
    }

    /// The rule with this name, with limits or a warning; `nil` if there is none.
    public init?(name: String) {
        guard let rule = Self.byName[name] else { return nil }
        self = rule
    }

    private static let byName = Dictionary(uniqueKeysWithValues: (all + warnings).map { ($0.name, $0) })
}
