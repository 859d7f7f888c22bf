/// A limit that is watched: of which value, and on which side. Its name is `<metric>_<what>_<high|low>`, such as
/// `heart_rate_resting_high` or `blood_oxygen_low`.
public struct AlertRule: Sendable, Hashable {
    /// The metric of the limit.
    public var metric: Metric
    /// The watched value of the metric.
    public var subject: Subject
    /// On which side of the limits an alert is raised.
    public var side: Side

    /// The watched value: resting or exercise for heart rate, both pressures for blood pressure, the only value for the
    /// others (`Metric.alertSubjects`).
    public enum Subject: String, CaseIterable, Sendable, Hashable { case value, resting, exercise, systolic, diastolic }
    /// Which limit must not be passed.
    public enum Side: String, CaseIterable, Sendable, Hashable { case high, low }

    /// A rule.
    public init(_ metric: Metric, _ subject: Subject, _ side: Side) {
        self.metric = metric
        self.subject = subject
        self.side = side
    }

    /// A rule for a metric with one value.
    public init(_ metric: Metric, _ side: Side) { self.init(metric, .value, side) }

    /// The rule's name on the wire.
    public var name: String {
        subject == .value
            ? "\(metric.rawValue)_\(side.rawValue)" : "\(metric.rawValue)_\(subject.rawValue)_\(side.rawValue)"
    }

    /// All rules, ordered by metric, subject and side.
    public static let all: [AlertRule] = Metric.monitored.flatMap { metric in
        metric.alertSubjects.flatMap { subject in Side.allCases.map { AlertRule(metric, subject, $0) } }
    }

    /// The rule with this name; `nil` if there is none.
    public init?(name: String) {
        guard let rule = Self.byName[name] else { return nil }
        self = rule
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
