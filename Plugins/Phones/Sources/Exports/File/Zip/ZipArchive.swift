/// The list of entries at the end of a zip (PKWARE APPNOTE 6.3, with Zip64). Nothing but the wanted entry is ever read.
struct ZipArchive {
    private let file: SourceFile
    private let directory: ByteView
    private let count: UInt64

    /// The length of the last record without its comment, and the most bytes of the comment.
    private static let endLength = 22
    private static let longestComment = 65_535

    /// - Throws: `torn` if the list is not there or not whole, `tooLarge`, `foreign` for a zip in several parts.
    init(_ file: SourceFile) throws(ExportError) {
        self.file = file
        let size = file.stamp.size
        let tailLength = Int(min(size, Int64(Self.endLength + Self.longestComment)))
        let tailStart = size - Int64(tailLength)
        let tail = ByteView(try file.read(at: tailStart, count: tailLength))
        guard let end = Self.end(in: tail), let disk = tail.u16(end + 4), let entries = tail.u16(end + 10),
            let length = tail.u32(end + 12), let offset = tail.u32(end + 16)
        else { throw ExportError(.torn, "\(file.stamp.path) begins as a zip and does not end as one.") }
        guard disk == 0 else { throw ExportError(.foreign, "\(file.stamp.path) is a part of a zip, not a whole one.") }
        var place = (count: UInt64(entries), length: UInt64(length), offset: UInt64(offset))
        if entries == .max || length == .max || offset == .max {
            place = try Self.large(file, locatorAt: tailStart + Int64(end) - 20) ?? place
        }
        guard place.length <= UInt64(ZipLimits.directory) else {
            throw ExportError(.tooLarge, "The list of entries of \(file.stamp.path) is larger than any export's.")
        }
        guard place.offset <= UInt64(size), place.length <= UInt64(size) - place.offset else {
            throw ExportError(.torn, "The list of entries of \(file.stamp.path) lies outside of the file.")
        }
        directory = ByteView(try file.read(at: Int64(place.offset), count: Int(place.length)))
        count = place.count
    }

    /// Where the last record begins: its signature, with a comment that reaches to the end.
    private static func end(in tail: ByteView) -> Int? {
        guard tail.count >= endLength else { return nil }
        for start in stride(from: tail.count - endLength, through: 0, by: -1)
        where tail.u32(start) == 0x0605_4b50 && tail.u16(start + 20).map({ Int($0) }) == tail.count - start - endLength
        {
            return start
        }
        return nil
    }

    /// The place of the list by the records of Zip64; `nil` if there are none.
    private static func large(
        _ file: SourceFile, locatorAt start: Int64
    ) throws(ExportError) -> (count: UInt64, length: UInt64, offset: UInt64)? {
        guard start >= 0 else { return nil }
        let locator = ByteView(try file.read(at: start, count: 20))
        guard locator.u32(0) == 0x0706_4b50, let offset = locator.u64(8) else { return nil }
        guard let place = Int64(exactly: offset), place >= 0, place <= start - 56 else {
            throw ExportError(.torn, "The list of entries of \(file.stamp.path) lies outside of the file.")
        }
        let record = ByteView(try file.read(at: place, count: 56))
        guard record.u32(0) == 0x0606_4b50, let count = record.u64(32), let length = record.u64(40),
            let first = record.u64(48)
        else { throw ExportError(.torn, "The list of entries of \(file.stamp.path) is damaged.") }
        return (count, length, first)
    }

    /// The entry of this very name.
    /// - Throws: `foreign` if there is none, or more than one, or if it is packed in an unknown way; `torn` if the list is
    ///   damaged.
    func entry(named name: String) throws(ExportError) -> ZipEntry {
        let found = try entries { $0.elementsEqual(name.utf8) }
        guard let first = found.first else {
            throw ExportError(.foreign, "\(file.stamp.path) is a zip without the entry \(name): it is another app's.")
        }
        guard found.count == 1 else {
            throw ExportError(
                .foreign, "\(file.stamp.path) has the entry \(name) twice, so which one counts is unknown.")
        }
        return first
    }

    /// The entries with a name that is wanted.
    /// - Throws: `foreign` if one is packed in an unknown way; `torn` if the list is damaged.
    func entries(where isWanted: (ArraySlice<UInt8>) -> Bool) throws(ExportError) -> [ZipEntry] {
        var found: [ZipEntry] = []
        var start = 0
        var seen: UInt64 = 0
        while seen < count {
            guard directory.u32(start) == 0x0201_4b50, let flags = directory.u16(start + 8),
                let method = directory.u16(start + 10), let checksum = directory.u32(start + 16),
                let compressed = directory.u32(start + 20), let uncompressed = directory.u32(start + 24),
                let nameLength = directory.u16(start + 28), let extraLength = directory.u16(start + 30),
                let commentLength = directory.u16(start + 32), let offset = directory.u32(start + 42),
                let bytes = directory.slice(start + 46, Int(nameLength)),
                let extra = directory.slice(start + 46 + Int(nameLength), Int(extraLength))
            else { throw ExportError(.torn, "The list of entries of \(file.stamp.path) is damaged.") }
            start += 46 + Int(nameLength) + Int(extraLength) + Int(commentLength)
            seen += 1
            guard isWanted(bytes) else { continue }
            guard flags & 1 == 0, let method = ZipEntry.Method(rawValue: method) else {
                throw ExportError(
                    .foreign,
                    "The entry \(String(decoding: bytes, as: UTF8.self)) of \(file.stamp.path) is encrypted, or packed in an unknown way."
                )
            }
            let large = Self.large(ByteView(extra), compressed: compressed, uncompressed: uncompressed, offset: offset)
            guard let large else { throw ExportError(.torn, "The list of entries of \(file.stamp.path) is damaged.") }
            found.append(
                ZipEntry(
                    name: Array(bytes), method: method, checksum: checksum, compressed: large.compressed,
                    uncompressed: large.uncompressed, offset: large.offset))
        }
        return found
    }

    /// Sizes and offset, from the extra field of Zip64 where the usual places are full; `nil` if it lacks one.
    static func large(
        _ extra: ByteView, compressed: UInt32, uncompressed: UInt32, offset: UInt32
    ) -> (compressed: Int64, uncompressed: Int64, offset: Int64)? {
        var fields: ByteView?
        var start = 0
        while let tag = extra.u16(start), let length = extra.u16(start + 2) {
            guard let body = extra.slice(start + 4, Int(length)) else { break }
            if tag == 1 { fields = ByteView(body) }
            start += 4 + Int(length)
        }
        var next = 0
        func value(_ usual: UInt32) -> Int64? {
            guard usual == .max else { return Int64(usual) }
            defer { next += 8 }
            return fields?.u64(next).flatMap { Int64(exactly: $0) }
        }
        // In this order, and only those whose usual place is full.
        guard let uncompressed = value(uncompressed), let compressed = value(compressed), let offset = value(offset)
        else { return nil }
        return (compressed, uncompressed, offset)
    }
}

/// One entry of a zip, by the list at the zip's end. That list always has the sizes, also where the entry's own header leaves
/// them to a data descriptor behind it.
struct ZipEntry: Sendable, Hashable {
    /// How the bytes are stored.
    enum Method: UInt16, Sendable { case stored = 0, deflated = 8 }

    var name: [UInt8]
    var method: Method
    var checksum: UInt32
    var compressed: Int64
    var uncompressed: Int64
    /// Where its own header begins.
    var offset: Int64
}

/// Limits of a zip, which may be damaged or made to exhaust memory or disk.
package enum ZipLimits {
    /// Bytes of the list of entries: 100,000 entries with long names. It is in memory while it is searched.
    package static let directory = 32 * 1024 * 1024
    /// Compressed bytes of an entry: the longest exports seen are below a tenth of it.
    package static let compressed: Int64 = 2 << 30
    /// Bytes of an entry once unpacked: a database of decades.
    package static let uncompressed: Int64 = 4 << 30
    /// How many times larger than its packed form an entry may be. Databases pack 3 to 10 times smaller, and empty ones up
    /// to a hundred times; the format allows 1,032.
    package static let ratio: Int64 = 200
    /// The size below which the ratio says nothing.
    static let alwaysAllowed: Int64 = 1 << 20
}
