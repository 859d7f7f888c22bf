import CZlib

/// Makes zips for tests, in the ways of different writers.
struct ZipFile {
    struct Entry {
        var name: String
        var content: [UInt8]
        var isDeflated = true
        /// Sizes and check sum behind the data instead of in the entry's own header, as Java's streams write them.
        var hasDescriptor = true
        /// Sizes and offset in the extra field of Zip64.
        var isLarge = false
        /// Lies of the list of entries.
        var claimedSize: Int?
        var flags: UInt16 = 0
        var method: UInt16?
    }

    var entries: [Entry]
    var comment: [UInt8] = []
    /// Counts and offset in the record of Zip64.
    var isLarge = false

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let offset = bytes.count
            let packed = entry.isDeflated ? Self.deflated(entry.content) : entry.content
            let sum = UInt32(
                truncatingIfNeeded: entry.content.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
            )
            let method = entry.method ?? (entry.isDeflated ? 8 : 0)
            let flags = entry.flags | (entry.hasDescriptor ? 8 : 0)
            let name = Array(entry.name.utf8)
            bytes += le(0x0403_4b50, 4) + le(20, 2) + le(Int(flags), 2) + le(Int(method), 2) + le(0, 4)
            let known = entry.hasDescriptor ? [0, 0, 0] : [Int(sum), packed.count, entry.content.count]
            bytes += known.flatMap { le($0, 4) } + le(name.count, 2) + le(3, 2) + name + [0x58, 0x58, 0]
            bytes += packed
            if entry.hasDescriptor {
                bytes += le(0x0807_4b50, 4) + [Int(sum), packed.count, entry.content.count].flatMap { le($0, 4) }
            }
            let size = entry.claimedSize ?? entry.content.count
            let extra = entry.isLarge ? le(1, 2) + le(24, 2) + le(size, 8) + le(packed.count, 8) + le(offset, 8) : []
            directory += le(0x0201_4b50, 4) + le(20, 2) + le(20, 2) + le(Int(flags), 2) + le(Int(method), 2) + le(0, 4)
            directory += le(Int(sum), 4)
            directory += entry.isLarge ? le(0xffff_ffff, 4) + le(0xffff_ffff, 4) : le(packed.count, 4) + le(size, 4)
            directory += le(name.count, 2) + le(extra.count, 2) + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 4)
            directory += le(entry.isLarge ? 0xffff_ffff : offset, 4) + name + extra
        }
        let start = bytes.count
        bytes += directory
        if isLarge {
            let record = bytes.count
            bytes += le(0x0606_4b50, 4) + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 4) + le(0, 4)
            bytes += le(entries.count, 8) + le(entries.count, 8) + le(directory.count, 8) + le(start, 8)
            bytes += le(0x0706_4b50, 4) + le(0, 4) + le(record, 8) + le(1, 4)
        }
        let full = isLarge ? (0xffff, 0xffff_ffff, 0xffff_ffff) : (entries.count, directory.count, start)
        bytes += le(0x0605_4b50, 4) + le(0, 2) + le(0, 2) + le(full.0, 2) + le(full.0, 2) + le(full.1, 4)
        bytes += le(full.2, 4) + le(comment.count, 2) + comment
        return bytes
    }

    private func le(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Raw "deflate", by zlib.
    private static func deflated(_ content: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = content
        var output = [UInt8](repeating: 0, count: content.count + content.count / 100 + 1000)
        let room = output.count
        input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                _ = deflate(&stream, Z_FINISH)
            }
        }
        return Array(output.prefix(room - Int(stream.avail_out)))
    }
}
