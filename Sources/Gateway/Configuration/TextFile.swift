import Foundation

/// Why a text file could not be read.
package enum TextFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no such file, or it may not be read.
    case unreadable(path: String, reason: String)
    /// It is longer than what is taken.
    case tooLong(path: String, limit: Int)
    /// It is not UTF-8; the first wrong byte stands on that line.
    case notText(path: String, line: Int)

    /// What happened, for a person.
    package var description: String {
        switch self {
        case .unreadable(let path, _), .tooLong(let path, _), .notText(let path, _): "\(path) \(reason)"
        }
    }

    /// What happened, for a person who knows which file it is about.
    package var reason: String {
        switch self {
        case .unreadable(_, let reason): "cannot be read: \(reason)."
        case .tooLong(_, let limit): "is longer than \(limit) bytes."
        case .notText(_, let line): "is not UTF-8 text (line \(line))."
        }
    }
}

/// Reads small files of text.
package enum TextFile {
    /// The file's text, without a byte order mark.
    package static func read(_ path: String, limit: Int) throws(TextFileError) -> String {
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            data = try file.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw .unreadable(path: path, reason: reason(of: error, path))
        }
        guard data.count <= limit else { throw .tooLong(path: path, limit: limit) }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw .notText(path: path, line: lineOfFirstDamage(in: data))
        }
        return text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    }

    /// The permission bits of a file, or of the one that a symbolic link leads to; `nil` where they cannot be told.
    static func permissions(of path: String) -> Int? {
        // A link's own bits say nothing; everyone has all of them.
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    private static func reason(of error: any Error, _ path: String) -> String {
        var isDirectory = false as ObjCBool
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            return "it does not exist"
        }
        if isDirectory.boolValue { return "it is a folder" }
        if !FileManager.default.isReadableFile(atPath: path) { return "its permissions do not allow it" }
        return error.localizedDescription
    }

    private static func lineOfFirstDamage(in data: Data) -> Int {
        // Up to its first damage the text is whole, and where it was repaired the two differ.
        let repaired = String(decoding: data, as: UTF8.self).utf8
        let same = zip(data, repaired).prefix { $0 == $1 }
        return same.count { $0.0 == UInt8(ascii: "\n") } + 1
    }
}
