/// What a heart-rate strap sends (GATT Specification Supplement, Heart Rate Measurement, 0x2A37).
struct HeartRateMeasurement: Sendable, Hashable {
    /// Beats per minute.
    var rate: Int
    /// Whether the sensor touches the skin; `nil` if the device does not know.
    var hasContact: Bool?
    /// Energy spent since it was last set to 0, in kilojoules.
    var energy: Int?
    /// Times between heartbeats, oldest first, in 1/1024 s.
    var intervals: [Int]

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        rate = flags & 0x01 != 0 ? Int(try reader.uint16()) : Int(try reader.uint8())
        hasContact = flags & 0x04 != 0 ? flags & 0x02 != 0 : nil
        energy = flags & 0x08 != 0 ? Int(try reader.uint16()) : nil
        intervals = []
        guard flags & 0x10 != 0 else { return }
        while reader.count >= 2 { intervals.append(Int(try reader.uint16())) }
    }
}
