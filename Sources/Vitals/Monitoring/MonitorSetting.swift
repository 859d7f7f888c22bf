/// One setting of a device's monitoring: a leaf of the configuration, such as `heart_rate.resting_alert.upper`.
public struct MonitorSetting: Sendable, Hashable {
    /// The metric that it belongs to.
    public var metric: Metric
    /// Which setting of that metric.
    public var field: Field

    /// A metric's setting.
    public init(_ metric: Metric, _ field: Field) {
        self.metric = metric
        self.field = field
    }

    /// The setting's place in a configuration document: metric and field, joined by dots.
    public var path: String { "\(metric.rawValue).\(field.rawValue)" }

    /// A metric's settings. The raw value is the path below the metric.
    public enum Field: String, CaseIterable, Sendable, Hashable {
        case scheduleEnabled = "schedule.enabled"
        case scheduleStart = "schedule.start"
        case scheduleEnd = "schedule.end"
        case scheduleInterval = "schedule.interval_min"
        case alertEnabled = "alert.enabled"
        case alertLower = "alert.lower"
        case alertUpper = "alert.upper"
        case systolicLower = "alert.systolic_lower"
        case systolicUpper = "alert.systolic_upper"
        case diastolicLower = "alert.diastolic_lower"
        case diastolicUpper = "alert.diastolic_upper"
        case restingAlertEnabled = "resting_alert.enabled"
        case restingAlertLower = "resting_alert.lower"
        case restingAlertUpper = "resting_alert.upper"
        case exerciseAlertEnabled = "exercise_alert.enabled"
        case exerciseAlertLower = "exercise_alert.lower"
        case exerciseAlertUpper = "exercise_alert.upper"
        case exerciseMaximum = "exercise_max_bpm"
    }

    /// What a setting holds.
    public enum Value: Sendable, Hashable {
        /// On or off.
        case toggle(Bool)
        /// A limit in the metric's unit, an interval in minutes, or a time of day in minutes from midnight.
        case number(Double)
    }
}

extension MonitorSetting.Field {
    /// What kind of value a field holds.
    public enum Kind: Sendable, Hashable { case toggle, timeOfDay, interval, limit, exerciseMaximum }

    /// The kind of this field's value.
    public var kind: Kind {
        switch self {
        case .scheduleEnabled, .alertEnabled, .restingAlertEnabled, .exerciseAlertEnabled: .toggle
        case .scheduleStart, .scheduleEnd: .timeOfDay
        case .scheduleInterval: .interval
        case .exerciseMaximum: .exerciseMaximum
        default: .limit
        }
    }
}
