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
            }
        return DeviceIdentity(
            manufacturer: "vitals2mqtt", model: name, serial: serial, firmware: firmware, hardware: hardware)
    }

    /// The metrics that are streamed while the device is worn.
    var streams: [Metric] {
        switch self {
        case .band: [.heartRate]
        case .oximeter: [.heartRate, .bloodOxygen]
        case .ring, .cuff: []
        }
    }

    /// The most days of history that fit into the device, `nil` if only the configuration limits them.
    var memory: Int? { self == .oximeter ? 3 : nil }

    /// Whether the device has a clock that can be read and set.
    var hasClock: Bool { self != .oximeter }

    /// Whether it distinguishes exercise from rest.
    var distinguishesExercise: Bool { self == .band }

    /// The user slots, each with its own person; empty for a device of one person.
    var users: [Int] { self == .cuff ? [1, 2] : [] }

    /// Whether it is worn all day, and charged once a day.
    var isWornAllDay: Bool { self == .band || self == .ring }

    /// How long a measurement takes: as long as requested, except that a blood pressure takes a fixed time.
    func length(ofMeasuring metric: Metric, asked duration: Duration) -> Duration {
        guard metric == .bloodPressure else { return duration }
        return self == .cuff ? Self.cuffing : .seconds(30)
    }

    /// How long a cuff takes to inflate, deflate and find its result.
    static let cuffing = Duration.seconds(40)
}
