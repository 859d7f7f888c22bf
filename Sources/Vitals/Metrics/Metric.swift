/// What a wearable measures. The raw value is the metric's name on every wire: MQTT topics and payloads, Vitals Link,
/// the configuration file and the store.
public enum Metric: String, CaseIterable, Sendable, Hashable {
    /// Heart rate in beats per minute.
    case heartRate = "heart_rate"
    /// Heart rate at complete rest, as the device itself determines it, in beats per minute.
    case restingHeartRate = "resting_heart_rate"
    /// Arterial pressure: systolic and diastolic in mmHg, optionally with the pulse.
    case bloodPressure = "blood_pressure"
    /// Peripheral oxygen saturation (SpO2) in per cent.
    case bloodOxygen = "blood_oxygen"
    /// Stress on the device's own scale from 0 to 100.
    case stress
    /// Body temperature in degrees Celsius.
    case temperature
    /// Steps counted within an interval: an increment, not a running total.
    case steps
    /// One sleep, with its stages.
    case sleep
    /// One workout.
    case sport
    /// The wearable's own battery in per cent. Not a health metric: it has no history on the device.
    case battery
}

extension Metric {
    /// The unit of `value` in every payload, or `nil` for a metric without one (stress).
    public var unit: String? {
        switch self {
        case .heartRate, .restingHeartRate: "bpm"
        case .bloodPressure: "mmHg"
        case .bloodOxygen, .battery: "%"
        case .stress: nil
        case .temperature: "°C"
        case .steps: "steps"
        case .sleep, .sport: "min"
        }
    }

    /// The metrics that have history on a device, in the order in which they are synchronised: sport before heart
    /// rate, so that heart rates of a workout are already known to be exercise.
    public static let synchronised: [Metric] = [
        .sport, .heartRate, .restingHeartRate, .bloodPressure, .bloodOxygen, .stress, .temperature, .steps, .sleep,
    ]

    /// The metrics that a device can monitor by itself, with a schedule and alert limits.
    public static let monitored: [Metric] = [.heartRate, .bloodPressure, .bloodOxygen, .stress, .temperature]

    /// Whether samples last (sleep, sport, steps) and may therefore appear on the device hours after they began.
    public var isInterval: Bool { self == .steps || self == .sleep || self == .sport }
}
