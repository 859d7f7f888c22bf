import GatewayKit
import Vitals

/// The values of a thermometer. It sends what it stored as soon as it is subscribed to.
struct ThermometerProfile: Sendable {
    private var clock: RecordClock
    private let site: TemperatureType?
    private let isAutomatic: Bool

    /// - Parameters:
    ///   - site: where it measures, if that is the same for all values.
    ///   - isAutomatic: whether it measures by itself.
    init(calendar: LocalCalendar, site: TemperatureType?, isAutomatic: Bool) {
        clock = RecordClock(calendar: calendar)
        self.site = site
        self.isAutomatic = isAutomatic
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        var start: Timestamp?
        var metric = Metric.temperature
        do throws(FormatError) {
            let value = try TemperatureMeasurement(bytes)
            if (value.site ?? site)?.isSkin == true { metric = .skinTemperature }
            // One that measures every second by itself sends many values without a time, and all of them are new.
            let moment = isAutomatic && value.time == nil ? now : try clock.moment(value.time, at: now)
            start = moment
            guard let number = value.temperature.number else {
                throw FormatError("the thermometer could not measure it")
            }
            let celsius = value.isFahrenheit ? ((number - 32) / 1.8 * 100).rounded() / 100 : number
            let sample = Sample(
                metric: metric, start: moment, isUserInitiated: !isAutomatic, reading: .value(celsius))
            return [.samples([sample], receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(metric, at: start, "a temperature: \(error.problem)"))]
        }
    }
}

/// What a thermometer sends (GATT Specification Supplement, Temperature Measurement, 0x2A1C).
struct TemperatureMeasurement: Sendable, Hashable {
    /// In °C, or in °F.
    var temperature: MedicalNumber
    var isFahrenheit: Bool
    var time: DateTime?
    var site: TemperatureType?

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        isFahrenheit = flags & 0x01 != 0
        temperature = try reader.float()
        time = flags & 0x02 != 0 ? try reader.dateTime() : nil
        site = flags & 0x04 != 0 ? TemperatureType(rawValue: try reader.uint8()) : nil
    }
}

/// Where a temperature is measured (GATT Specification Supplement, Temperature Type, 0x2A1D; 1 byte).
enum TemperatureType: UInt8, CaseIterable, Sendable, Hashable {
    case armpit = 1
    case body, ear, finger, gastrointestinal, mouth, rectum, toe, tympanum

    /// Whether it is a temperature of the skin, which says nothing about fever.
    var isSkin: Bool { self == .finger || self == .toe }
}
