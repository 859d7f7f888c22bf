import CZlib

/// The XML of an export of Apple's Health app in pieces: out of its archive, or a file by itself. Of a cut archive it gives what there is.
final class ExportBytes {
    /// The most bytes of a piece.
    static let piece = 256 * 1024

    /// The file.
    let stamp: FileStamp
    /// The check sum of all bytes by the archive; 0 where nothing says it.
    let checksum: UInt32
    /// How many bytes were given.
    private(set) var position: Int64 = 0
    private let source: SourceFile
    /// The entry by the archive's list; `nil` for a file by itself, and of a cut archive, which has no list.
    private let entry: ZipEntry?
    private let inflater: Inflater?
    private var place: Int64
    private let end: Int64
    private var input: [UInt8] = []
    private var consumed = 0
    private var output = [UInt8](repeating: 0, count: ExportBytes.piece)
    private var sum = crc32(0, nil, 0)

    /// Opens an export.
    /// - Throws: `foreign` if it is another app's archive, `torn` if nothing can be read.
    init(_ stamp: FileStamp) throws(ExportError) {
        self.stamp = stamp
        source = try SourceFile(stamp)
        guard try source.read(at: 0, count: Int(min(stamp.size, 4))) == [0x50, 0x4b, 0x03, 0x04] else {
            (entry, inflater, place, end, checksum) = (nil, nil, 0, stamp.size, 0)
            return
        }
        let found: ZipEntry
        var list: ZipArchive?
        do throws(ExportError) { list = try ZipArchive(source) } catch {
            // A cut archive has no list at its end.
            guard error.code == .torn else { throw error }
        }
        if let list {
            let entries = try list.entries { Self.isExport($0) }
            guard
                let best = entries.max(by: {
                    ($0.isNamedExport ? 1 : 0, $0.uncompressed) < ($1.isNamedExport ? 1 : 0, $1.uncompressed)
                })
            else { throw ExportError(.foreign, "\(stamp.path) is a zip without an export of Apple Health.") }
            (found, entry, place) = (best, best, try source.content(of: best))
            end = place + best.compressed
        } else {
            (found, place) = try source.firstEntry { Self.isExport($0) }
            (entry, end) = (nil, stamp.size)
        }
        checksum = entry?.checksum ?? 0
        inflater = found.method == .deflated ? try Inflater() : nil
    }

    /// How much of the file was read, from 0 to 1.
    var share: Double { stamp.size == 0 ? 1 : Double(place) / Double(stamp.size) }

    /// Whether an entry is the export by its name: `apple_health_export/export.xml`, of which a phone in another language has a word of its
    /// own. The other document (`export_cda.xml`) is in another format.
    static func isExport(_ name: ArraySlice<UInt8>) -> Bool {
        let name = String(decoding: name, as: UTF8.self)
        return name.hasSuffix(".xml") && !name.hasSuffix("_cda.xml") && name.count(where: { $0 == "/" }) <= 1
    }

    /// The next piece; `nil` at the end.
    /// - Throws: `torn` if the file is cut or damaged behind what was given, or was replaced.
    func next() throws(ExportError) -> [UInt8]? {
        try source.checkUnchanged()
        var made = 0
        while made == 0 {
            if consumed == input.count, place < end, inflater?.isFinished != true {
                input = try source.read(at: place, count: Int(min(Int64(Self.piece), end - place)))
                (consumed, place) = (0, place + Int64(input.count))
            }
            guard let inflater else {
                defer { consumed = input.count }
                return consumed == input.count ? try finished() : given(Array(input[consumed...]))
            }
            if inflater.isFinished { return try finished() }
            let isCut = consumed == input.count
            guard let count = inflater.step(input, from: &consumed, into: &output) else {
                throw ExportError(.torn, "\(stamp.path) is damaged.")
            }
            made = count
            if made == 0, isCut, !inflater.isFinished { throw ExportError(.torn, "\(stamp.path) is cut.") }
        }
        return given(Array(output[..<made]))
    }

    private func given(_ bytes: [UInt8]) -> [UInt8] {
        position += Int64(bytes.count)
        if entry != nil { sum = bytes.withUnsafeBufferPointer { crc32(sum, $0.baseAddress, UInt32($0.count)) } }
        return bytes
    }

    private func finished() throws(ExportError) -> [UInt8]? {
        guard let entry else { return nil }
        guard position == entry.uncompressed, UInt32(truncatingIfNeeded: sum) == checksum else {
            throw ExportError(.torn, "\(stamp.path) is damaged: its check sum is another one.")
        }
        return nil
    }
}

extension ZipEntry {
    fileprivate var isNamedExport: Bool { name.suffix(11).elementsEqual("/export.xml".utf8) }
}

extension SourceFile {
    /// The first entry with a name that is wanted, by the entries' own headers, and where its packed bytes begin: for an archive whose list
    /// is cut off.
    fileprivate func firstEntry(
        where isWanted: (ArraySlice<UInt8>) -> Bool
    ) throws(ExportError) -> (entry: ZipEntry, start: Int64) {
        var place: Int64 = 0
        while true {
            guard place <= stamp.size - 30, case let header = ByteView(try read(at: place, count: 30)),
                header.u32(0) == 0x0403_4b50, let flags = header.u16(6), let code = header.u16(8),
                let packed = header.u32(18), let unpacked = header.u32(22), let nameLength = header.u16(26),
                let extraLength = header.u16(28), case let names = Int(nameLength) + Int(extraLength),
                Int64(names) <= stamp.size - place - 30
            else { throw ExportError(.torn, "\(stamp.path) is cut before the export that it should have.") }
            let bytes = try read(at: place + 30, count: names)
            let name = bytes.prefix(Int(nameLength))
            let start = place + 30 + Int64(names)
            guard flags & 1 == 0, let method = ZipEntry.Method(rawValue: code) else {
                throw ExportError(.foreign, "\(stamp.path) is encrypted, or packed in an unknown way.")
            }
            if isWanted(name) {
                let entry = ZipEntry(
                    name: Array(name), method: method, checksum: 0, compressed: 0, uncompressed: 0, offset: place)
                return (entry, start)
            }
            let extra = ByteView(bytes.suffix(Int(extraLength)))
            let size = ZipArchive.large(extra, compressed: packed, uncompressed: unpacked, offset: 0)?.compressed
            guard flags & 8 != 0 else {
                guard let size, size <= stamp.size - start else {
                    throw ExportError(.torn, "\(stamp.path) is cut before the export that it should have.")
                }
                place = start + size
                continue
            }
            place = try nextHeader(behind: try end(ofDeflated: start))
        }
    }

    /// Where packed bytes end whose length stands behind them.
    private func end(ofDeflated start: Int64) throws(ExportError) -> Int64 {
        let inflater = try Inflater()
        var output = [UInt8](repeating: 0, count: Self.chunk)
        var place = start
        while place < stamp.size {
            let input = try read(at: place, count: Int(min(Int64(Self.chunk), stamp.size - place)))
            var consumed = 0
            while true {
                let before = consumed
                guard let made = inflater.step(input, from: &consumed, into: &output) else {
                    throw ExportError(.torn, "\(stamp.path) is damaged.")
                }
                if inflater.isFinished { return place + Int64(consumed) }
                if made == 0, consumed == before || consumed == input.count { break }
            }
            place += Int64(input.count)
        }
        throw ExportError(.torn, "\(stamp.path) is cut before the export that it should have.")
    }

    /// Where the next entry begins: behind the lengths and the check sum, which have 12 to 24 bytes.
    private func nextHeader(behind place: Int64) throws(ExportError) -> Int64 {
        let bytes = ByteView(try read(at: place, count: Int(min(28, stamp.size - place))))
        for offset in [12, 16, 20, 24] where bytes.u32(offset) == 0x0403_4b50 { return place + Int64(offset) }
        throw ExportError(.torn, "\(stamp.path) is cut before the export that it should have.")
    }
}
