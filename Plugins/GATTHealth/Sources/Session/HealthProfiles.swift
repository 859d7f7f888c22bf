import GatewayKit
import Vitals

/// The profiles of a device, which give its values their meaning.
struct HealthProfiles: Sendable {
    private let device: HealthDevice
    private var heartRate: HeartRateProfile
    private var bloodPressure: BloodPressureProfile
    private var oximeter: OximeterProfile
    private var thermometer: ThermometerProfile
    private var scale: ScaleProfile
    private var composition: CompositionProfile
    /// The times of what comes without one.
    private var times = LiveTimes()

    /// - Parameters:
    ///   - site: where the thermometer measures, if that is the same for all values.
    ///   - quirk: how the device bends its profile; `nil` if it follows it.
    init(
        _ device: HealthDevice, _ options: HealthOptions, calendar: LocalCalendar, site: TemperatureType?,
        quirk: Quirk? = nil
    ) {
        self.device = device
        heartRate = HeartRateProfile(hasVariability: options.hasVariability)
        bloodPressure = BloodPressureProfile(calendar: calendar, user: options.user)
        oximeter = OximeterProfile(calendar: calendar)
        thermometer = ThermometerProfile(
            calendar: calendar, site: site, isAutomatic: device.measurementInterval != nil)
        scale = ScaleProfile(calendar: calendar, user: options.user, quirk: quirk)
        composition = CompositionProfile(
            calendar: calendar, user: options.user, hasWeight: device.weight == nil, quirk: quirk)
    }

    /// The events of a value that arrives now.
    mutating func events(of value: GATTValue, at now: Timestamp) -> [DeviceEvent] {
        switch value.characteristic {
        case device.heartRate: heartRate.events(of: value.bytes, at: times.time(at: now))
        case device.bloodPressure: bloodPressure.events(of: value.bytes, at: now)
        case device.continuous: oximeter.running(value.bytes, at: times.time(at: now))
        case device.spotCheck: oximeter.spotCheck(value.bytes, at: now)
        case device.temperature: thermometer.events(of: value.bytes, at: times.time(at: now))
        case device.weight: scale.events(of: value.bytes, at: now)
        case device.composition: composition.events(of: value.bytes, at: now)
        case device.battery: Self.battery(value.bytes)
        default: []
        }
    }

    /// The event of a charge.
    static func battery(_ bytes: [UInt8]) -> [DeviceEvent] {
        do { return [.battery(percent: Double(try BatteryLevel(bytes).percent), isCharging: nil)] } catch {
            return [.malformed("a battery level: \(error.problem)")]
        }
    }
}

/// The charge of a device (GATT Specification Supplement, Battery Level, 0x2A19; 1 byte).
struct BatteryLevel: Sendable, Hashable {
    /// 0–100.
    var percent: Int

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        percent = Int(try reader.uint8())
        guard percent <= 100 else { throw FormatError("\(percent) % is no charge") }
    }
}
