/// Bytes with little-endian numbers in them, as in a zip or in a wearable's records.
package struct ByteView: Sendable {
    private let bytes: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) { self.bytes = bytes[...] }
    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    package var count: Int { bytes.count }

    /// The bytes of a range; `nil` outside.
    package func slice(_ start: Int, _ count: Int) -> ArraySlice<UInt8>? {
        guard start >= 0, count >= 0, start <= bytes.count, count <= bytes.count - start else { return nil }
        return bytes[(bytes.startIndex + start)..<(bytes.startIndex + start + count)]
    }

    package func u8(_ at: Int) -> UInt8? { slice(at, 1)?.first }
    package func u16(_ at: Int) -> UInt16? { number(at, 2).map { UInt16(truncatingIfNeeded: $0) } }
    package func u32(_ at: Int) -> UInt32? { number(at, 4).map { UInt32(truncatingIfNeeded: $0) } }
    package func u64(_ at: Int) -> UInt64? { number(at, 8) }

    private func number(_ at: Int, _ count: Int) -> UInt64? {
        slice(at, count)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
