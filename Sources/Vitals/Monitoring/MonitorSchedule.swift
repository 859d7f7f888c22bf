/// When and how often a metric is monitored, in local time.
public struct MonitorSchedule: Sendable, Hashable {
    /// Whether the metric is monitored.
    public var isEnabled: Bool
    /// The first minute of the day, 0–1440 minutes from midnight.
    public var start: Int
    /// The end, 0–1440 minutes from midnight, after `start`; 1440 is midnight at the day's end.
    public var end: Int
    /// Minutes between two measurements: 5–1440, a multiple of 5.
    public var interval: Int

    /// A schedule from `start` to `end` minutes of the day, every `interval` minutes.
    public init(isEnabled: Bool, start: Int, end: Int, interval: Int) {
        self.isEnabled = isEnabled
        self.start = start
        self.end = end
        self.interval = interval
    }
}

/// Two limits of a value, in the metric's unit. A value equal to a limit is within it.
public struct AlertLimits: Sendable, Hashable {
    /// Whether leaving the limits raises an alert.
    public var isEnabled: Bool
    /// Values below it raise an alert.
    public var lower: Double
    /// Values above it raise an alert.
    public var upper: Double

    /// Limits from `lower` to `upper`.
    public init(isEnabled: Bool, lower: Double, upper: Double) {
        self.isEnabled = isEnabled
        self.lower = lower
        self.upper = upper
    }
}

/// Limits that are switched on and off together. The raw value is the name in a configuration.
public enum AlertGroup: String, CaseIterable, Sendable, Hashable {
    /// The limits of a metric's only value, or of both blood pressures.
    case alert
    /// The limits of the heart rate at rest.
    case resting = "resting_alert"
    /// The limits of the heart rate in exercise.
    case exercise = "exercise_alert"
    /// The limits of how fast the value changes.
    case rate = "rate_alert"
}

extension AlertRule.Subject {
    /// The group that switches this subject's limits on and off.
    public var group: AlertGroup {
        switch self {
        case .value, .systolic, .diastolic: .alert
        case .resting: .resting
        case .exercise: .exercise
        case .rate: .rate
        }
    }
}

extension Metric {
    /// The groups of the metric's limits, in the order of its subjects.
    public var alertGroups: [AlertGroup] {
        alertSubjects.map(\.group).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
