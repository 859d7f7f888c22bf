import GatewayKit
import Vitals

/// A device's clock (GATT Specification Supplement, Current Time, 0x2A2B; 10 bytes): date and time, day of the week, fractions of a
/// second, and why it was set.
struct CurrentTime: Sendable, Hashable {
    var dateTime: DateTime
    /// 1 for Monday to 7 for Sunday; 0 if unknown.
    var dayOfWeek: Int
    /// 1/256 of a second.
    var fractions: Int
    /// Bits: 0 set by hand, 1 by a reference, 2 another zone, 3 another daylight saving.
    var adjustReason: UInt8

    /// The clock was set by a better clock.
    static let externalReference: UInt8 = 0x02

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        dateTime = try reader.dateTime()
        dayOfWeek = Int(try reader.uint8())
        fractions = Int(try reader.uint8())
        adjustReason = try reader.uint8()
    }

    /// What a clock shows that is `offset` minutes ahead of UTC.
    init(_ moment: Timestamp, offset minutes: Int) {
        dateTime = DateTime(moment, offset: minutes)
        // 1970-01-01 was a Thursday.
        let local = max(0, (moment + .minutes(minutes)).milliseconds)
        dayOfWeek = Int((local / 86_400_000 + 3) % 7) + 1
        fractions = Int(local % 1000 * 256 / 1000)
        adjustReason = Self.externalReference
    }

    /// The ten bytes.
    var bytes: [UInt8] { dateTime.bytes + [UInt8(dayOfWeek & 0xff), UInt8(fractions & 0xff), adjustReason] }
}

/// A device's offset from UTC (GATT Specification Supplement, Local Time Information, 0x2A0F; 2 bytes).
struct LocalTimeInformation: Sendable, Hashable {
    /// Minutes ahead of UTC, with daylight saving; `nil` if the device does not know it.
    var offset: Int?

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        // Quarters of an hour; -128 if unknown.
        let zone = Int(Int8(bitPattern: try reader.uint8()))
        // Quarters of an hour: 0, 2, 4 or 8; 255 if unknown.
        let saving = Int(try reader.uint8())
        offset = (-48...56).contains(zone) && [0, 2, 4, 8].contains(saving) ? (zone + saving) * 15 : nil
    }

    /// An offset without daylight saving: the sum of both is what counts.
    init(offset: Int) { self.offset = offset }

    /// The two bytes; `nil` for an offset that is unknown or no multiple of 15 minutes.
    var bytes: [UInt8]? {
        guard let offset, offset % 15 == 0, (-48...56).contains(offset / 15) else { return nil }
        return [UInt8(bitPattern: Int8(offset / 15)), 0]
    }
}
