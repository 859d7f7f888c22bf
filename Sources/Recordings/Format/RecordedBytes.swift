/// Bytes of a recording, some of which were masked before they were written.
package struct RecordedBytes: Sendable, Hashable {
    /// The bytes as recorded.
    package var bytes: [UInt8]
    /// The positions in `bytes` whose true content was a secret or an address, ascending and apart.
    package var masked: [Range<Int>]

    /// Bytes, of which these ranges are masked.
    package init(_ bytes: [UInt8], masked: [Range<Int>] = []) {
        self.bytes = bytes
        self.masked = masked
    }

    /// Adds further bytes at the end.
    package mutating func append(_ other: RecordedBytes) {
        let offset = bytes.count
        bytes += other.bytes
        masked += other.masked.map { $0.lowerBound + offset..<$0.upperBound + offset }
    }
}
