import GatewayKit
import Vitals

/// A scale that sends each change of the load, with a status instead of the flags of its profile. A weighing has one weight.
struct StatusScale: Sendable {
    private let form: StatusWeight.Form
    private let calendar: LocalCalendar
    private var weighing = Weighing()

    init(_ form: StatusWeight.Form, calendar: LocalCalendar) { (self.form, self.calendar) = (form, calendar) }

    /// The events of a value that arrives now: only the first stable one of a weighing is a weight.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        do throws(FormatError) {
            let value = try StatusWeight(bytes, form)
            guard weighing.takes(value) else { return [] }
            guard let kilograms = value.kilograms else { throw FormatError("the scale could not measure it") }
            // The value is new: without a clock that was set it was measured now.
            let start = value.time.moment(in: calendar) ?? now
            let sample = Sample(metric: .weight, start: start, isUserInitiated: true, reading: .value(kilograms))
            return [.samples([sample], receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(.weight, "a weight: \(error.problem)"))]
        }
    }
}

/// A weight with a status for flags. The time is true while the load is stable, and not taken off.
struct StatusWeight: Sendable, Hashable {
    /// How the bytes of a characteristic are arranged.
    enum Form: Sendable, Hashable {
        /// In a Weight Measurement, 10 bytes: status, weight, time (openScale's wiki, Xiaomi Bluetooth Mi Scale).
        case weightScale
        /// In a Body Composition Measurement, 13 bytes: two bytes of status, time, impedance, weight (wiecosystem, huami.health.scale2).
        case bodyComposition

        var length: Int { self == .weightScale ? 10 : 13 }
    }

    /// What the flags say, by the bits of the form `weightScale`; its bits 1, 2, 3 and 6 have no known meaning.
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

    init(_ bytes: [UInt8], _ form: Form) throws(FormatError) {
        var reader = FieldReader(bytes)
        let raw: Int
        switch form {
        case .weightScale:
            status = Status(rawValue: try reader.uint8())
            raw = Int(try reader.uint16())
            time = try reader.dateTime()
        case .bodyComposition:
            let (units, state) = (try reader.uint8(), try reader.uint8())
            status = Status(rawValue: units & 0x01 | state & 0xa0)
            if state & 0x40 != 0 { status.insert(.jin) }
            time = try reader.dateTime()
            _ = try reader.uint16()
            raw = Int(try reader.uint16())
        }
        weight = raw == 0xffff ? nil : raw
    }

    /// The weight in kilograms; `nil` if the measurement failed.
    var kilograms: Double? {
        // 0.01 jin are 0.005 kg, too.
        weight.map { ScaleUnit.kilograms($0, isImperial: status.contains(.pounds)) }
    }

    /// Whether a value can only be one with a status: the profiles reserve the bits of `stable`, `takenOff` and the jin of `composition`.
    /// A weight of 10 bytes has a time, and neither a user nor a height.
    static func isCertain(_ bytes: [UInt8], _ form: Form) -> Bool {
        guard bytes.count == form.length else { return false }
        return switch form {
        case .weightScale: bytes[0] & 0x0e == 0x02 && bytes[0] & 0xa0 != 0
        case .bodyComposition: bytes[0] & 0x02 != 0 && bytes[1] & 0xe0 != 0
        }
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
