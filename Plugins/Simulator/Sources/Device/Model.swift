import GatewayKit
import Vitals

/// The kinds of wearable that are simulated. The raw value is the value of `model:` in the configuration.
enum Model: String, CaseIterable, Sendable, Hashable {
    /// A wristband that does everything.
    case band
    /// A finger ring: no blood pressure, no workouts, no limits of its own, and a schedule of which only the interval can
    /// be set.
    case ring
    /// An upper-arm blood pressure monitor of two people. It measures when somebody asks it to.
    case cuff
    /// A finger clip that shows oxygen saturation and pulse while it is on.
    case oximeter
}

extension Model {
    /// What the device says about itself.
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

    /// Metrics that are streamed while the device is worn.
    var streams: [Metric] {
        switch self {
        case .band: [.heartRate]
        case .oximeter: [.heartRate, .bloodOxygen]
        case .ring, .cuff: []
        }
    }

    /// The most days of history that fit into the device, `nil` where the configuration alone decides.
    var memory: Int? { self == .oximeter ? 3 : nil }

    /// Whether the device has a clock that can be read and set.
    var hasClock: Bool { self != .oximeter }

    /// Whether it tells exercise from rest.
    var knowsExercise: Bool { self == .band }

    /// The user slots, each with a person of its own; empty for a device of one person.
    var users: [Int] { self == .cuff ? [1, 2] : [] }

    /// Whether it is worn all day, and charged once a day.
    var isWornAllDay: Bool { self == .band || self == .ring }

    /// How long a measurement takes: as long as was asked for, but for a blood pressure, which is there when it is there.
    func length(ofMeasuring metric: Metric, asked duration: Duration) -> Duration {
        guard metric == .bloodPressure else { return duration }
        return self == .cuff ? Self.cuffing : .seconds(30)
    }

    /// How long a cuff takes to inflate, deflate and find its result.
    static let cuffing = Duration.seconds(40)
}
