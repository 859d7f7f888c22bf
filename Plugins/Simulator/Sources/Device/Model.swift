import GatewayKit
import Vitals

/// The simulated kinds of wearable. The raw value is the value of `model:` in the configuration.
enum Model: String, CaseIterable, Sendable, Hashable {
    /// A wristband with every ability.
    case band
    /// A finger ring: no blood pressure, no workouts, no limits of its own, and only the interval of its schedule can
    /// be set.
    case ring
    /// An upper-arm blood pressure monitor for two people. It measures only on demand.
    case cuff
    /// A finger clip that shows oxygen saturation and pulse while it is on.
    case oximeter
    /// A bathroom scale for two people. They step on it; it takes no command to measure.
    case scale
    /// A sensor of glucose below the skin, worn day and night for two weeks.
    case glucose
}

extension Model {
    /// The identity that the device reports.
    func identity(serial: String) -> DeviceIdentity {
        let (name, firmware, hardware) =
            switch self {
            case .band: ("Simulated Band", "4.2.1", "B2")
            case .ring: ("Simulated Ring", "1.9.0", "R1")
            case .cuff: ("Simulated Cuff", "2.0.3", "C1")
            case .oximeter: ("Simulated Oximeter", "1.1.0", "O1")
            case .scale: ("Simulated Scale", "3.0.1", "S1")
            case .glucose: ("Simulated Glucose Sensor", "1.4.0", "G1")
            }
        return DeviceIdentity(
            manufacturer: "vitals2mqtt", model: name, serial: serial, firmware: firmware, hardware: hardware)
    }

    /// The metrics that are streamed while the device is worn.
    var streams: [Metric] {
        switch self {
        case .band: [.heartRate]
        case .oximeter: [.heartRate, .bloodOxygen]
        case .ring, .cuff, .scale, .glucose: []
        }
    }

    /// The most days of history that fit into the device, `nil` if only the configuration limits them.
    var memory: Int? {
        switch self {
        case .oximeter: 3
        case .glucose: 14
        case .band, .ring, .cuff, .scale: nil
        }
    }

    /// Whether the device has a clock that can be read and set.
    var hasClock: Bool { self != .oximeter }

    /// Whether it distinguishes exercise from rest.
    var distinguishesExercise: Bool { self == .band }

    /// The user slots, each with its own person; empty for a device of one person.
    var users: [Int] { self == .cuff || self == .scale ? [1, 2] : [] }

    /// Whether it is on the body while it measures by itself, so that it reports whether it is worn.
    var isWearable: Bool { self != .cuff && self != .scale }

    /// Whether it is worn all day, and charged once a day.
    var isWornAllDay: Bool { self == .band || self == .ring }

    /// How long a measurement takes: as long as requested, except that a blood pressure takes a fixed time.
    func length(ofMeasuring metric: Metric, asked duration: Duration) -> Duration {
        guard metric == .bloodPressure else { return duration }
        return self == .cuff ? Self.cuffing : .seconds(30)
    }

    /// How long a cuff takes to inflate, deflate and find its result.
    static let cuffing = Duration.seconds(40)

    /// How long a person uses it to get a value: a scale shows it when it is still.
    var measurementTime: Duration { self == .cuff ? Self.cuffing : .seconds(5) }

    /// The batteries' life.
    var batteryLife: Duration {
        switch self {
        case .cuff: .days(90)
        case .scale: .days(300)
        case .glucose: .days(14)
        case .band, .ring, .oximeter: .days(25)
        }
    }

    /// The words of its values.
    func qualifiers(of metric: Metric) -> [Qualifier: String] {
        switch self {
        case .band, .ring: metric.has(.statistic) ? [.statistic: "rmssd"] : [:]
        case .glucose: metric.has(.specimen) ? [.specimen: "interstitial_fluid"] : [:]
        case .cuff, .oximeter, .scale: [:]
        }
    }
}
