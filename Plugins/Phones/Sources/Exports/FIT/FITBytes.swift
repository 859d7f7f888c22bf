import CZlib

/// Limits of FIT files, which may be damaged or made to exhaust memory.
package enum FITLimits {
    /// Bytes of a file once it is unpacked: a week with a record of all sensors each second has half of it.
    package static let file: Int64 = 64 << 20
    /// Messages of a file: a week of one each second has a sixth of it.
    package static let messages = 4_000_000
    /// Files of a folder and those below it: ten years of a watch that begins ten a day.
    package static let files = 50_000
    /// How many folders deep files may lie, such as `monitoring/2026/11`.
    package static let depth = 4
    /// The local days of which running counts are remembered: files of older days that come in pieces count from midnight.
    package static let days = 30
    /// Fields of developers that are counted by their names: an app has a few.
    package static let names = 100
    /// Refused files that are logged one by one when several are found at once.
    package static let reported = 20
}

/// The bytes of a FIT file, read in pieces, with their check sum and a digest.
final class FITBytes {
    private let file: SourceFile
    private let gzip: Inflater?
    /// The check sum by an archive's list.
    private let checksumOfEntry: UInt32?
    private var offset: Int64 = 0
    private let end: Int64
    private var total: Int64 = 0
    private var sum = crc32(0, nil, 0)
    private var buffer: [UInt8] = []
    private var place = 0

    /// The check sum since `restart` (FIT Protocol, "CRC").
    private(set) var checksum: UInt16 = 0
    /// What the file is known by, whatever its name: a hash of all bytes that were read.
    private(set) var digest = StableHash()

    let path: String

    /// Packed bytes of one read: they unpack to a thousand times as much at most.
    private static let packedChunk = 4 * 1024
    private static let chunk = 64 * 1024
    private static let nibbles: [UInt16] = [
        0x0000, 0xcc01, 0xd801, 0x1400, 0xf001, 0x3c00, 0x2800, 0xe401, 0xa001, 0x6c00, 0x7800, 0xb401, 0x5000, 0x9c01,
        0x8801, 0x4400,
    ]

    /// Opens a file, or an archive's entry: one of gzip (RFC 1952) with one member is unpacked.
    init(_ source: FITSource) throws(ExportError) {
        let stamp = source.stamp
        path = source.path
        guard source.size <= FITLimits.file else { throw Self.tooLarge(path) }
        file = try SourceFile(stamp)
        checksumOfEntry = source.entry?.checksum
        if let entry = source.entry {
            offset = try file.content(of: entry)
            end = offset + entry.compressed
            gzip = entry.method == .deflated ? try Inflater() : nil
            return
        }
        guard stamp.path.lowercased().hasSuffix(".gz") else {
            (gzip, end) = (nil, stamp.size)
            return
        }
        // The last eight bytes are the check sum and the length.
        end = stamp.size - 8
        gzip = try Inflater()
        try skipGzipHeader()
    }

    private func skipGzipHeader() throws(ExportError) {
        guard end >= 10 else { throw cut }
        let head = try file.read(at: 0, count: Int(min(end, 1024)))
        guard head.starts(with: [0x1f, 0x8b, 8]) else { throw ExportError(.foreign, "\(path) is no file of gzip.") }
        var start = 10
        if head[3] & 4 != 0 {
            guard head.count >= 12 else { throw cut }
            start = 12 + Int(head[10..<12].bits())
        }
        for flag in [UInt8(8), 16] where head[3] & flag != 0 {
            guard start < head.count, let zero = head[start...].firstIndex(of: 0) else { throw cut }
            start = zero + 1
        }
        if head[3] & 2 != 0 { start += 2 }
        offset = Int64(start)
    }

    var cut: ExportError {
        ExportError(.torn, "\(path) ends before its time: it was cut, or is still being written. Copy it again.")
    }

    private static func tooLarge(_ path: String) -> ExportError {
        ExportError(.tooLarge, "\(path) has more than \(FITLimits.file >> 20) MiB, as no FIT file has.")
    }

    /// Begins a new check sum.
    func restart() { checksum = 0 }

    /// - Throws: `torn` if the file changed since it was opened.
    func checkUnchanged() throws(ExportError) { try file.checkUnchanged() }

    /// Whether no byte follows.
    func isAtEnd() throws(ExportError) -> Bool {
        try fill(1)
        return place == buffer.count
    }

    /// The next bytes, all of them.
    /// - Throws: `torn` if the file ends before.
    func read(_ count: Int) throws(ExportError) -> ArraySlice<UInt8> {
        try fill(count)
        guard buffer.count - place >= count else { throw cut }
        let bytes = buffer[place..<place + count]
        place += count
        var sum = checksum
        for byte in bytes {
            sum = sum >> 4 ^ Self.nibbles[Int((sum ^ UInt16(byte)) & 0xf)]
            sum = sum >> 4 ^ Self.nibbles[Int((sum ^ UInt16(byte >> 4)) & 0xf)]
            digest.combine(byte)
        }
        checksum = sum
        return bytes
    }

    /// Reads on until so many bytes wait, or none follow.
    private func fill(_ count: Int) throws(ExportError) {
        while buffer.count - place < count, offset < end {
            buffer.removeFirst(place)
            place = 0
            let more = try file.read(
                at: offset, count: Int(min(Int64(gzip == nil ? Self.chunk : Self.packedChunk), end - offset)))
            offset += Int64(more.count)
            total += try append(more)
            guard total <= FITLimits.file else { throw Self.tooLarge(path) }
        }
    }

    private func append(_ more: [UInt8]) throws(ExportError) -> Int64 {
        guard let gzip else {
            buffer += more
            return Int64(more.count)
        }
        let before = buffer.count
        let isWhole = try gzip.feed(more) { bytes throws(ExportError) in
            self.sum = crc32(self.sum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count))
            self.buffer.append(contentsOf: bytes)
        }
        if isWhole, offset == end {
            guard gzip.isFinished else { throw cut }
            let expected: UInt64
            if let checksumOfEntry {
                expected = UInt64(checksumOfEntry)
            } else {
                expected = try file.read(at: end, count: 4)[...].bits()
            }
            guard expected == UInt64(sum) else {
                throw damaged("\(checksumOfEntry == nil ? "gzip" : "zip")'s check sum is wrong")
            }
        }
        guard isWhole else { throw damaged("it cannot be unpacked") }
        return Int64(buffer.count - before)
    }

    /// An error about bytes that are not as they were written.
    func damaged(_ why: String) -> ExportError {
        ExportError(.torn, "\(path) is damaged: \(why). Copy it again.")
    }
}
