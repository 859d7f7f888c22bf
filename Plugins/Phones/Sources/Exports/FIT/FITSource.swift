/// A file, or an entry of an archive of them.
struct FITSource: Sendable, Hashable {
    let stamp: FileStamp
    /// The entry of an archive; `nil` for a file by itself.
    var entry: ZipEntry?

    /// What its errors call it.
    var path: String { entry.map { "\(stamp.path)/\(String(decoding: $0.name, as: UTF8.self))" } ?? stamp.path }
    /// Its bytes, of an entry once it is unpacked.
    var size: Int64 { entry?.uncompressed ?? stamp.size }

    /// Whether a name is that of an archive.
    static func isArchive(_ name: String) -> Bool { name.lowercased().hasSuffix(".zip") }

    /// A file by itself, or the FIT files of an archive.
    /// - Throws: `torn` or `tooLarge` if an archive cannot be read, `foreign` if it has no FIT file.
    static func sources(of stamp: FileStamp) throws(ExportError) -> [FITSource] {
        guard isArchive(stamp.path) else { return [FITSource(stamp: stamp)] }
        let entries = try ZipArchive(try SourceFile(stamp)).entries {
            String(decoding: $0, as: UTF8.self).lowercased().hasSuffix(".fit")
        }
        guard !entries.isEmpty else {
            throw ExportError(.foreign, "\(stamp.path) has no file *.fit. Unpack an archive of other files.")
        }
        guard entries.count <= FITLimits.files else {
            throw ExportError(.tooLarge, "\(stamp.path) has more than \(FITLimits.files) FIT files. Divide it.")
        }
        return entries.map { FITSource(stamp: stamp, entry: $0) }
    }
}
