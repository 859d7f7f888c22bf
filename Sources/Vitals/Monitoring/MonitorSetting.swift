/// One setting of a device's monitoring: a leaf of the configuration, such as `heart_rate.resting_alert.upper`.
/// Patches, differences and violations refer to leaves.
public struct MonitorSetting: Sendable, Hashable {
    /// The metric.
    public var metric: Metric
    /// The setting within the metric.
    public var field: Field

    /// A metric's setting.
    public init(_ metric: Metric, _ field: Field) {
        self.metric = metric
        self.field = field
    }

    /// The path in a configuration document: metric and field, joined by dots.
    public var path: String { "\(metric.rawValue).\(field.path)" }

    /// The settings of a metric.
    public enum Field: Sendable, Hashable {
        /// Whether the metric is monitored.
        case scheduleEnabled
        /// The schedule's first minute of the day, 0–1440.
        case scheduleStart
        /// The schedule's end, 0–1440 minutes from midnight, after its start.
        case scheduleEnd
        /// Minutes between two measurements: 5–1440, a multiple of 5.
        case scheduleInterval
        /// Whether leaving the limits of a group raises an alert.
        case enabled(AlertGroup)
        /// The lower limit of a subject, in the metric's unit; of a rate per minute.
        case lower(AlertRule.Subject)
        /// The upper limit of a subject, in the metric's unit; of a rate per minute.
        case upper(AlertRule.Subject)
        /// The highest heart rate in exercise, which defines the zones: 100–220 bpm.
        case exerciseMaximum
    }

    /// The value of a setting.
    public enum Value: Sendable, Hashable {
        /// On or off.
        case toggle(Bool)
        /// A limit in the metric's unit, an interval in minutes, or a time of day in minutes from midnight.
        case number(Double)
    }
}

extension MonitorSetting.Field {
    /// The kinds of value.
    public enum Kind: Sendable, Hashable { case toggle, timeOfDay, interval, limit, exerciseMaximum }

    /// The kind of this field's value.
    public var kind: Kind {
        switch self {
        case .scheduleEnabled, .enabled: .toggle
        case .scheduleStart, .scheduleEnd: .timeOfDay
        case .scheduleInterval: .interval
        case .exerciseMaximum: .exerciseMaximum
        case .lower, .upper: .limit
        }
    }

    /// The object within the metric that contains the field, such as `schedule`; `nil` if the metric contains it
    /// directly.
    public var group: String? {
        switch self {
        case .scheduleEnabled, .scheduleStart, .scheduleEnd, .scheduleInterval: "schedule"
        case .enabled(let group): group.rawValue
        case .lower(let subject), .upper(let subject): subject.group.rawValue
        case .exerciseMaximum: nil
        }
    }

    /// The field's name within its group, prefixed with the subject if limits of several subjects share the group.
    public var name: String {
        switch self {
        case .scheduleEnabled, .enabled: "enabled"
        case .scheduleStart: "start"
        case .scheduleEnd: "end"
        case .scheduleInterval: "interval_min"
        case .lower(let subject): subject.prefix + "lower"
        case .upper(let subject): subject.prefix + "upper"
        case .exerciseMaximum: "exercise_max_bpm"
        }
    }

    /// The path within the metric.
    public var path: String { group.map { "\($0).\(name)" } ?? name }
}

extension AlertRule.Subject {
    fileprivate var prefix: String { self == .systolic || self == .diastolic ? "\(rawValue)_" : "" }
}
