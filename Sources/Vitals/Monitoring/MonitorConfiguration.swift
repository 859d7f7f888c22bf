/// How a device monitors one metric by itself: when it measures, and which values raise an alert.
///
/// A part that is `nil` is one that the device, or the metric, does not have.
public struct MonitorConfiguration: Sendable, Hashable {
    /// When and how often it measures.
    public var schedule: MonitorSchedule?
    /// Limits of blood oxygen (%), stress (0–100) and temperature (°C).
    public var alert: AlertLimits?
    /// Limits of the heart rate at rest, in bpm.
    public var restingAlert: AlertLimits?
    /// Limits of the heart rate in exercise, in bpm.
    public var exerciseAlert: AlertLimits?
    /// The highest heart rate in exercise, from which heart-rate zones are computed: 100–220 bpm, usually 220 minus age.
    public var exerciseMaximum: Int?
    /// Limits of the blood pressure, in mmHg.
    public var pressureAlert: BloodPressureLimits?

    /// A configuration of these parts.
    public init(
        schedule: MonitorSchedule? = nil, alert: AlertLimits? = nil, restingAlert: AlertLimits? = nil,
        exerciseAlert: AlertLimits? = nil, exerciseMaximum: Int? = nil, pressureAlert: BloodPressureLimits? = nil
    ) {
        self.schedule = schedule
        self.alert = alert
        self.restingAlert = restingAlert
        self.exerciseAlert = exerciseAlert
        self.exerciseMaximum = exerciseMaximum
        self.pressureAlert = pressureAlert
    }
}

/// When and how often a metric is monitored, in local time.
public struct MonitorSchedule: Sendable, Hashable {
    /// Whether it is monitored at all.
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

/// Two limits of one value, in the unit of its metric. A value equal to a limit is within.
public struct AlertLimits: Sendable, Hashable {
    /// Whether leaving the limits raises an alert.
    public var isEnabled: Bool
    /// A value below it raises an alert.
    public var lower: Double
    /// A value above it raises an alert.
    public var upper: Double

    /// Limits from `lower` to `upper`.
    public init(isEnabled: Bool, lower: Double, upper: Double) {
        self.isEnabled = isEnabled
        self.lower = lower
        self.upper = upper
    }
}

/// The four limits of a blood pressure, in mmHg. A pressure equal to a limit is within.
public struct BloodPressureLimits: Sendable, Hashable {
    /// Whether leaving the limits raises an alert.
    public var isEnabled: Bool
    /// A systolic pressure below it raises an alert.
    public var systolicLower: Double
    /// A systolic pressure above it raises an alert.
    public var systolicUpper: Double
    /// A diastolic pressure below it raises an alert.
    public var diastolicLower: Double
    /// A diastolic pressure above it raises an alert.
    public var diastolicUpper: Double

    /// Limits of both pressures.
    public init(
        isEnabled: Bool, systolicLower: Double, systolicUpper: Double, diastolicLower: Double, diastolicUpper: Double
    ) {
        self.isEnabled = isEnabled
        self.systolicLower = systolicLower
        self.systolicUpper = systolicUpper
        self.diastolicLower = diastolicLower
        self.diastolicUpper = diastolicUpper
    }
}
