import GatewayKit
import Vitals

/// The values of a scale. It sends what it stored as soon as it is subscribed to.
struct ScaleProfile: Sendable {
    private var clock: RecordClock
    private let user: Int?

    /// - Parameter user: the only user slot whose values count; `nil` for all.
    init(calendar: LocalCalendar, user: Int?) {
        clock = RecordClock(calendar: calendar)
        self.user = user
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        var start: Timestamp?
        do throws(FormatError) {
            let value = try WeightMeasurement(bytes)
            if let user, let slot = value.user, slot != user { return [] }
            let moment = try clock.moment(value.time, at: now)
            start = moment
            guard let weight = value.kilograms else { throw FormatError("the scale could not measure it") }
            let sample = Sample(
                metric: .weight, start: moment, isUserInitiated: true, user: value.user, reading: .value(weight))
            return [.samples([sample], receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(.weight, at: start, "a weight: \(error.problem)"))]
        }
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

    /// The weight in kilograms; `nil` if the measurement failed. A pound is 0.45359237 kg.
    var kilograms: Double? { weight.map { isImperial ? Double($0) * 0.01 * 0.45359237 : Double($0) * 5 / 1000 } }
}
