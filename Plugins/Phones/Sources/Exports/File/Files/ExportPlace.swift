import Foundation

/// Where exports appear: a file, or a folder whose newest export counts.
package struct ExportPlace: Sendable, Hashable {
    /// A file or a folder.
    package var path: String
    /// Names of exports in a folder, such as `Gadgetbridge`.
    package var names: Set<String>
    /// Endings of the names of exports in a folder, in lower case and without a dot.
    package var extensions: Set<String>

    package init(path: String, names: Set<String>, extensions: Set<String>) {
        self.path = path
        self.names = names
        self.extensions = extensions
    }

    /// The folder in which exports appear: that of the file, or the folder itself.
    package var folder: String { isFolder ? path : URL(filePath: path).deletingLastPathComponent().path }

    /// Whether a folder is at this place now.
    package var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Whether nothing is at this place now.
    package var isMissing: Bool { !FileManager.default.fileExists(atPath: path) }

    /// What to do where nothing is.
    package var absence: String { "There is no \(path). Check the path, and whether the phone has exported yet." }

    /// The export that counts: the file itself, or the one of the folder that was written last.
    /// - Parameter others: files of the folder that do not count as they are.
    /// - Throws: `missing` with the remedy.
    package func newest(besides others: Set<FileStamp> = []) throws(ExportError) -> FileStamp {
        if let file = FileStamp(of: path) { return file }
        guard isFolder else {
            if FileManager.default.fileExists(atPath: path) {
                throw ExportError(.missing, "\(path) is no file. Name the file that the phone exports, or its folder.")
            }
            throw ExportError(.missing, absence)
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            throw ExportError(.unavailable, "The folder \(path) cannot be read. Check its permissions.")
        }
        let found = names.filter(isExport).compactMap { FileStamp(of: "\(path)/\($0)") }.filter { !others.contains($0) }
        let newest = found.max { ($0.modified, $0.path) < ($1.modified, $1.path) }
        guard let newest else {
            let wanted = self.names.sorted() + extensions.sorted().map { "*.\($0)" }
            throw ExportError(
                .missing,
                "The folder \(path) has no export yet: a file \(wanted.joined(separator: ", ")).")
        }
        return newest
    }

    /// Whether a file of the folder is an export by its name. What Syncthing, Nextcloud and editors have not finished, or
    /// keep beside it, is none.
    func isExport(_ name: String) -> Bool {
        if name.hasPrefix(".") || name.hasPrefix("~") || name.hasSuffix("~") { return false }
        if name.contains(".sync-conflict-") || name.contains("(conflicted copy") { return false }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if let last = parts.last, parts.count > 1, extensions.contains(last.lowercased()) { return true }
        return names.contains(name)
    }
}
