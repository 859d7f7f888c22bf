import Vitals

/// The packed keys of a message's samples: for each the distance of its start from the previous one, then its duration
/// and whether it is user-initiated. A sample every few seconds takes three bytes.
enum SampleKeys {
    static func pack(_ samples: [StoredSample]) -> [UInt8] {
        var writer = PackedWriter()
        var previous: Int64 = 0
        for stored in samples {
            let key = SampleKey(stored.sample)
            writer.append(signed: key.start.milliseconds &- previous)
            previous = key.start.milliseconds
            writer.append(UInt64(bitPattern: key.duration) << 1 | (key.isUserInitiated ? 1 : 0))
        }
        return writer.bytes
    }

    /// Unpacks the keys.
    /// - Throws: `StoreError` if `pack` has not written the bytes.
    static func unpack(_ bytes: [UInt8]) throws -> [SampleKey] {
        var reader = PackedReader(bytes)
        var keys: [SampleKey] = []
        var previous: Int64 = 0
        while !reader.isAtEnd {
            previous &+= try reader.signed()
            let second = try reader.number()
            keys.append(
                SampleKey(
                    start: Timestamp(milliseconds: previous),
                    end: Timestamp(milliseconds: previous &+ Int64(bitPattern: second >> 1)),
                    isUserInitiated: second & 1 == 1))
        }
        return keys
    }
}
