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
        /// Whether the metric is monitored at all.
        case scheduleEnabled = "schedule.enabled"
        /// The schedule's first minute of the day, 0–1440.
        case scheduleStart = "schedule.start"
        /// The schedule's end, 0–1440 minutes from midnight, after its start.
        case scheduleEnd = "schedule.end"
        /// Minutes between two measurements: 5–1440, a multiple of 5.
        case scheduleInterval = "schedule.interval_min"
        /// Whether leaving the limits raises an alert; not of heart rate, which has two kinds of limits.
        case alertEnabled = "alert.enabled"
        /// The lower limit of blood oxygen, stress or temperature.
        case alertLower = "alert.lower"
        /// The upper limit of blood oxygen, stress or temperature.
        case alertUpper = "alert.upper"
        /// The lower limit of the systolic pressure, in mmHg.
        case systolicLower = "alert.systolic_lower"
        /// The upper limit of the systolic pressure, in mmHg.
        case systolicUpper = "alert.systolic_upper"
        /// The lower limit of the diastolic pressure, in mmHg.
        case diastolicLower = "alert.diastolic_lower"
        /// The upper limit of the diastolic pressure, in mmHg.
        case diastolicUpper = "alert.diastolic_upper"
        /// Whether leaving the limits at rest raises an alert.
        case restingAlertEnabled = "resting_alert.enabled"
        /// The lower limit of the heart rate at rest, in bpm.
        case restingAlertLower = "resting_alert.lower"
        /// The upper limit of the heart rate at rest, in bpm.
        case restingAlertUpper = "resting_alert.upper"
        /// Whether leaving the limits in exercise raises an alert.
        case exerciseAlertEnabled = "exercise_alert.enabled"
        /// The lower limit of the heart rate in exercise, in bpm.
        case exerciseAlertLower = "exercise_alert.lower"
        /// The upper limit of the heart rate in exercise, in bpm.
        case exerciseAlertUpper = "exercise_alert.upper"
        /// The highest heart rate in exercise, from which zones are computed: 100–220 bpm.
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
