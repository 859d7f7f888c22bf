import Vitals

/// Writes numbers of variable length (seven bits a byte, lowest first, as in LEB128) and runs of bytes.
struct PackedWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Appends a number that may be negative; a small one of either sign takes few bytes.
    mutating func append(signed number: Int64) { append(UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

    /// Appends bytes with their count.
    mutating func append(_ run: [UInt8]) {
        append(UInt64(run.count))
        bytes += run
    }
}

/// Reads what a `PackedWriter` has written.
struct PackedReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { index >= bytes.count }

    /// - Throws: `StoreError` with code `corrupt` if the bytes end too early, as all methods do.
    mutating func number() throws -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while index < bytes.count, shift < 64 {
            let byte = bytes[index]
            index += 1
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        throw Self.isCut
    }

    mutating func signed() throws -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func count() throws -> Int {
        let count = try number()
        // Everything that is counted takes a byte or more.
        guard count <= UInt64(bytes.count) else { throw Self.isCut }
        return Int(count)
    }

    mutating func run() throws -> [UInt8] {
        let count = try count()
        guard count <= bytes.count - index else { throw Self.isCut }
        defer { index += count }
        return Array(bytes[index..<index + count])
    }

    private static var isCut: StoreError {
        StoreError(
            .corrupt, "The store is damaged: packed numbers are incomplete. It is moved aside at the next start.")
    }
}

/// The packed keys of a message's samples: for each the distance of its start from the previous one, then its duration
/// and whether it is user-initiated. A sample every few seconds takes three bytes. The number of a source follows where there is one.
enum SampleKeys {
    /// Marks a key with a source. No sample lasts so long that its duration has this bit.
    private static let hasSource: UInt64 = 1 << 62

    static func pack(_ samples: [StoredSample]) -> [UInt8] {
        var writer = PackedWriter()
        var previous: Int64 = 0
        for stored in samples {
            let key = SampleKey(stored.sample)
            writer.append(signed: key.start.milliseconds &- previous)
            previous = key.start.milliseconds
            let second = UInt64(bitPattern: key.duration) << 1 | (key.isUserInitiated ? 1 : 0)
            guard key.source != 0 else {
                writer.append(second)
                continue
            }
            writer.append(second | hasSource)
            writer.append(UInt64(bitPattern: key.source))
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
            var second = try reader.number()
            var source: Int64 = 0
            if second & hasSource != 0 {
                second &= ~hasSource
                source = Int64(bitPattern: try reader.number())
            }
            keys.append(
                SampleKey(
                    start: Timestamp(milliseconds: previous),
                    end: Timestamp(milliseconds: previous &+ Int64(bitPattern: second >> 1)),
                    isUserInitiated: second & 1 == 1, source: source))
        }
        return keys
    }
}
