import StoreAPI
import Vitals

/// The packed keys of a message's samples: for each the distance of its start from the previous one, then its duration
/// and whether it is user-initiated. Both numbers have variable length (seven bits a byte, lowest first, as in LEB128),
/// so a sample every few seconds takes three bytes.
enum SampleKeys {
    static func pack(_ samples: [StoredSample]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + samples.count * 4)
        var previous: Int64 = 0
        for stored in samples {
            let key = SampleKey(stored.sample)
            let distance = key.start.milliseconds &- previous
            previous = key.start.milliseconds
            append(UInt64(bitPattern: (distance << 1) ^ (distance >> 63)), to: &bytes)
            let duration = UInt64(bitPattern: key.end.milliseconds &- key.start.milliseconds)
            append(duration << 1 | (key.isUserInitiated ? 1 : 0), to: &bytes)
        }
        return bytes
    }

    /// Unpacks the keys.
    /// - Throws: `StoreError` if `pack` has not written the bytes.
    static func unpack(_ bytes: [UInt8]) throws -> [SampleKey] {
        var keys: [SampleKey] = []
        var previous: Int64 = 0
        var index = 0
        while index < bytes.count {
            let distance = try number(bytes, &index)
            previous &+= Int64(bitPattern: distance >> 1) ^ -Int64(bitPattern: distance & 1)
            let second = try number(bytes, &index)
            keys.append(
                SampleKey(
                    start: Timestamp(milliseconds: previous),
                    end: Timestamp(milliseconds: previous &+ Int64(bitPattern: second >> 1)),
                    isUserInitiated: second & 1 == 1))
        }
        return keys
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func number(_ bytes: [UInt8], _ index: inout Int) throws -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while index < bytes.count, shift < 64 {
            let byte = bytes[index]
            index += 1
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        throw StoreError(
            .corrupt, "The store is damaged: the keys of a fact are incomplete. It is set aside at the next start.")
    }
}
