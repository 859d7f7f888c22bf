import CZlib

extension SourceFile {
    /// Unpacks one entry of this zip into a private file. The name only selects the entry: it never becomes a path.
    func extract(_ name: String, to target: PrivateFile) throws(ExportError) {
        let entry = try ZipArchive(self).entry(named: name)
        try check(entry, name)
        let start = try content(of: entry)
        var sum = crc32(0, nil, 0)
        var written: Int64 = 0
        func put(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
            written += Int64(bytes.count)
            guard written <= entry.uncompressed else {
                throw ExportError(.torn, "The entry \(name) of \(stamp.path) is longer than its list says.")
            }
            sum = crc32(sum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count))
            try target.write(bytes)
        }
        let inflater = entry.method == .deflated ? try Inflater() : nil
        var place = start
        while place < start + entry.compressed {
            let chunk = try read(at: place, count: Int(min(Int64(Self.chunk), start + entry.compressed - place)))
            place += Int64(chunk.count)
            if let inflater {
                guard try inflater.feed(chunk, put) else {
                    throw ExportError(.torn, "The entry \(name) of \(stamp.path) is damaged.")
                }
            } else {
                do { try chunk.withUnsafeBytes { try put($0) } } catch let error as ExportError { throw error } catch {
                    throw ExportError(.unavailable, "\(error)")
                }
            }
        }
        guard inflater?.isFinished ?? true, written == entry.uncompressed,
            UInt32(truncatingIfNeeded: sum) == entry.checksum
        else { throw ExportError(.torn, "The entry \(name) of \(stamp.path) is damaged.") }
    }

    /// Where the packed bytes of an entry begin. All of them are in the file.
    func content(of entry: ZipEntry) throws(ExportError) -> Int64 {
        let name = String(decoding: entry.name, as: UTF8.self)
        let header = ByteView(try read(at: entry.offset, count: 30))
        guard header.u32(0) == 0x0403_4b50, let nameLength = header.u16(26), let extraLength = header.u16(28),
            try read(at: entry.offset + 30, count: Int(nameLength)) == entry.name
        else { throw ExportError(.torn, "The entry \(name) of \(stamp.path) is not where the list of entries says.") }
        let start = entry.offset + 30 + Int64(nameLength) + Int64(extraLength)
        guard start <= stamp.size, entry.compressed <= stamp.size - start else {
            throw ExportError(.torn, "The entry \(name) of \(stamp.path) is cut.")
        }
        return start
    }

    private func check(_ entry: ZipEntry, _ name: String) throws(ExportError) {
        guard entry.compressed <= ZipLimits.compressed, entry.uncompressed <= ZipLimits.uncompressed else {
            throw ExportError(.tooLarge, "The entry \(name) of \(stamp.path) is larger than any export.")
        }
        // The packed size has its limit by now, so the product has no overflow.
        guard entry.uncompressed <= max(ZipLimits.alwaysAllowed, entry.compressed * ZipLimits.ratio) else {
            throw ExportError(
                .tooLarge,
                "The entry \(name) of \(stamp.path) unpacks to more than \(ZipLimits.ratio) times its size, as no export does."
            )
        }
    }
}
