import GatewayKit
import Vitals

/// The values of a scale. It sends what it stored as soon as it is subscribed to; one with a `Quirk` sends what it weighs.
struct ScaleProfile: Sendable {
    private var clock: RecordClock
    private let user: Int?
    /// `nil` for a scale that follows the profile.
    private var weighing: Weighing?

    /// - Parameter user: the only user slot whose values count; `nil` for all.
    init(calendar: LocalCalendar, user: Int?, quirk: Quirk? = nil) {
        clock = RecordClock(calendar: calendar)
        self.user = user
        weighing = quirk?.effect == .weightStatus ? Weighing() : nil
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        // Bits that the profile reserves say what a scale is whose name and model are not known.
        if weighing == nil, StatusWeight.isCertain(bytes) { weighing = Weighing() }
        if weighing != nil { return events(ofStatus: bytes, at: now) }
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

    /// The events of a value with a status: only the first stable one of a weighing is a weight.
    private mutating func events(ofStatus bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        do throws(FormatError) {
            let value = try StatusWeight(bytes)
            guard weighing?.takes(value) == true else { return [] }
            guard let kilograms = value.kilograms else { throw FormatError("the scale could not measure it") }
            // The value is new: without a clock that was set it was measured now.
            let start = value.time.moment(in: clock.calendar) ?? now
            let sample = Sample(metric: .weight, start: start, isUserInitiated: true, reading: .value(kilograms))
            return [.samples([sample], receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(.weight, "a weight: \(error.problem)"))]
        }
    }
}

/// A weight with a status for flags, always of 10 bytes: flags, weight, time. The time is true while the load is stable, and
/// not taken off (openScale's wiki, Xiaomi Bluetooth Mi Scale).
struct StatusWeight: Sendable, Hashable {
    /// What the flags say; bits 1, 2, 3 and 6 have no known meaning.
    struct Status: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let pounds = Status(rawValue: 0x01)
        /// The Chinese pound of 500 g.
        static let jin = Status(rawValue: 0x10)
        static let stable = Status(rawValue: 0x20)
        static let takenOff = Status(rawValue: 0x80)
    }

    var status: Status
    /// In 0.005 kg, or in 0.01 lb or jin; `nil` if the measurement failed (65535).
    var weight: Int?
    /// By the scale's clock.
    var time: DateTime

    static let length = 10

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        status = Status(rawValue: try reader.uint8())
        let raw = Int(try reader.uint16())
        weight = raw == 0xffff ? nil : raw
        time = try reader.dateTime()
    }

    /// The weight in kilograms; `nil` if the measurement failed. A pound is 0.45359237 kg.
    var kilograms: Double? {
        // 0.01 jin are 0.005 kg, too.
        weight.map { status.contains(.pounds) ? Double($0) * 0.01 * 0.45359237 : Double($0) * 5 / 1000 }
    }

    /// Whether a value can only be one with a status: the profile reserves the bits of `stable` and `takenOff`, and has these 10 bytes
    /// only with a time and without a user and a height.
    static func isCertain(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == length, bytes[0] & 0x0e == 0x02 else { return false }
        return !Status(rawValue: bytes[0]).isDisjoint(with: [.stable, .takenOff])
    }
}

/// A weighing, from the first load until the scale is empty: it has one weight.
struct Weighing: Sendable, Hashable {
    private var hasWeight = false

    /// Whether a value is the weight of a weighing: the first that is stable. One that is taken off before has none, and neither has an
    /// empty scale.
    mutating func takes(_ value: StatusWeight) -> Bool {
        if value.status.contains(.takenOff) || value.weight == 0 {
            hasWeight = false
            return false
        }
        guard value.status.contains(.stable), !hasWeight else { return false }
        hasWeight = true
        return true
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
