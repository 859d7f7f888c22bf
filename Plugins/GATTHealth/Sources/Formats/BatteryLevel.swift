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
