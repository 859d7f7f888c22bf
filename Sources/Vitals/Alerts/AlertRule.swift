/// One limit that is watched: of what, and on which side. Its name is `<metric>_<what>_<high|low>`, such as
/// `heart_rate_resting_high` or `blood_oxygen_low`.
public struct AlertRule: Sendable, Hashable {
    /// The metric whose limits these are.
    public var metric: Metric
    /// Which value of the metric is watched.
    public var subject: Subject
    /// On which side of the limits the value is.
    public var side: Side

    /// What is watched. Heart rate has resting and exercise, blood pressure both pressures, the others one value.
    public enum Subject: String, CaseIterable, Sendable, Hashable { case value, resting, exercise, systolic, diastolic }
    /// Beyond which limit.
    public enum Side: String, CaseIterable, Sendable, Hashable { case high, low }

    /// A rule.
    public init(_ metric: Metric, _ subject: Subject, _ side: Side) {
        self.metric = metric
        self.subject = subject
        self.side = side
    }

    /// A rule of a metric with one value.
    public init(_ metric: Metric, _ side: Side) { self.init(metric, .value, side) }

    /// The rule's name on the wire.
    public var name: String {
        subject == .value
            ? "\(metric.rawValue)_\(side.rawValue)" : "\(metric.rawValue)_\(subject.rawValue)_\(side.rawValue)"
    }

    /// Every rule there is, in the order of metric, subject and side.
    public static let all: [AlertRule] = Metric.monitored.flatMap { metric in
        subjects(of: metric).flatMap { subject in Side.allCases.map { AlertRule(metric, subject, $0) } }
    }

    /// The rule of this name, `nil` where there is none.
    public init?(name: String) {
        guard let rule = Self.byName[name] else { return nil }
        self = rule
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// What is watched of a metric.
    public static func subjects(of metric: Metric) -> [Subject] {
        switch metric {
        case .heartRate: [.resting, .exercise]
        case .bloodPressure: [.systolic, .diastolic]
        default: [.value]
        }
    }
}
