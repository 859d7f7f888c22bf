import GatewayKit
import Vitals

/// The values of a scale. It sends what it stored as soon as it is subscribed to; one with a `Quirk` sends what it weighs.
struct ScaleProfile: Sendable {
    private var clock: RecordClock
    private let user: Int?
    /// `nil` for a scale that follows the profile.
    private var status: StatusScale?

    /// - Parameter user: the only user slot whose values count; `nil` for all.
    init(calendar: LocalCalendar, user: Int?, quirk: Quirk? = nil) {
        clock = RecordClock(calendar: calendar)
        self.user = user
        status = quirk?.effect == .status(.weightScale) ? StatusScale(.weightScale, calendar: calendar) : nil
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        // Bits that the profile reserves say what a scale is whose name and model are not known.
        if status == nil, StatusWeight.isCertain(bytes, .weightScale) {
            status = StatusScale(.weightScale, calendar: clock.calendar)
        }
        if let events = status?.events(of: bytes, at: now) { return events }
        var start: Timestamp?
        do throws(FormatError) {
            let value = try WeightMeasurement(bytes)
            if let user, let slot = value.user, slot != user { return [] }
            let moment = try clock.moment(value.time, at: now)
            start = moment
            guard let weight = value.kilograms else { throw FormatError("the scale could not measure it") }
            let values: [(metric: Metric, number: Double?)] = [
                (.weight, weight), (.bodyMassIndex, value.index), (.height, value.centimetres),
            ]
            let samples = values.compactMap { metric, number in
                number.map {
                    Sample(metric: metric, start: moment, isUserInitiated: true, user: value.user, reading: .value($0))
                }
            }
            return [.samples(samples, receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(.weight, at: start, "a weight: \(error.problem)"))]
        }
    }
}

/// The units of scales (GATT Specification Supplement): a pound is 0.45359237 kg, an inch 2.54 cm.
enum ScaleUnit {
    /// The kilograms of a mass in 0.005 kg, or in 0.01 lb.
    static func kilograms(_ raw: Int, isImperial: Bool) -> Double {
        isImperial ? Double(raw) * 0.01 * 0.45359237 : Double(raw) * 5 / 1000
    }

    /// The centimetres of a height in 0.001 m, or in 0.1 inch; `nil` of 0, which stands for a height that nobody has told the scale.
    static func centimetres(_ raw: Int?, isImperial: Bool) -> Double? {
        guard let raw, raw != 0 else { return nil }
        return isImperial ? Double(raw) * 254 / 1000 : Double(raw) / 10
    }
}

/// What a scale sends (GATT Specification Supplement, Weight Measurement, 0x2A9D).
struct WeightMeasurement: Sendable, Hashable {
    /// In 0.005 kg, or in 0.01 lb; `nil` if the measurement failed (65535).
    var weight: Int?
    var isImperial: Bool
    var time: DateTime?
    /// The user slot; `nil` if there is none or it is unknown (255).
    var user: Int?
    /// Body mass index in 0.1 kg/m².
    var bodyMassIndex: Int?
    /// In 0.001 m, or in 0.1 inch.
    var height: Int?

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        isImperial = flags & 0x01 != 0
        let raw = Int(try reader.uint16())
        weight = raw == 0xffff ? nil : raw
        time = flags & 0x02 != 0 ? try reader.dateTime() : nil
        let slot = flags & 0x04 != 0 ? Int(try reader.uint8()) : 255
        user = slot == 255 ? nil : slot
        bodyMassIndex = flags & 0x08 != 0 ? Int(try reader.uint16()) : nil
        height = flags & 0x08 != 0 ? Int(try reader.uint16()) : nil
    }

    /// The weight in kilograms; `nil` if the measurement failed.
    var kilograms: Double? { weight.map { ScaleUnit.kilograms($0, isImperial: isImperial) } }

    /// The body mass index in kg/m²; `nil` without one, and without the height of which it is made (0).
    var index: Double? { bodyMassIndex.flatMap { $0 == 0 ? nil : Double($0) / 10 } }

    /// The height in centimetres, if the scale knows it.
    var centimetres: Double? { ScaleUnit.centimetres(height, isImperial: isImperial) }
}
