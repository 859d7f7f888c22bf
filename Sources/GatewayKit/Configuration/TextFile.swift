package import Foundation
import Glibc

/// Why a text file could not be read.
package enum TextFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file does not exist, or its permissions deny reading.
    case unreadable(path: String, reason: String)
    /// The file is longer than the limit.
    case tooLong(path: String, limit: Int)
    /// The file is not UTF-8; that line has the first wrong byte.
    case notText(path: String, line: Int)

    /// A description of the error for a person.
    package var description: String {
        switch self {
        case .unreadable(let path, _), .tooLong(let path, _), .notText(let path, _): "\(path) \(reason)"
        }
    }

    /// A description for a person who knows the file.
    package var reason: String {
        switch self {
        case .unreadable(_, let reason): "cannot be read: \(reason)."
        case .tooLong(_, let limit): "is longer than \(limit) bytes."
        case .notText(_, let line): "is not UTF-8 text (line \(line))."
        }
    }
}

/// Reads small text files.
package enum TextFile {
    /// The file's text, without a byte order mark.
    package static func read(_ path: String, limit: Int) throws(TextFileError) -> String {
        let data: Data
        do {
            let file = try open(path)
            defer { try? file.close() }
            data = try file.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw .unreadable(path: path, reason: reason(of: error, path))
        }
        return try text(of: data, path, limit: limit)
    }

    /// The text of a file that was read, without a byte order mark.
    package static func text(of data: Data, _ path: String, limit: Int) throws(TextFileError) -> String {
        guard data.count <= limit else { throw .tooLong(path: path, limit: limit) }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw .notText(path: path, line: lineOfFirstDamage(in: data))
        }
        return text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    }

    /// Sees whether a file can be read, whatever is in it.
    package static func check(_ path: String) throws(TextFileError) {
        do {
            let file = try open(path)
            defer { try? file.close() }
            _ = try file.read(upToCount: 1)
        } catch {
            throw .unreadable(path: path, reason: reason(of: error, path))
        }
    }

    /// Opens a regular file. Opening or reading anything else, such as a named pipe, may never return.
    private static func open(_ path: String) throws -> FileHandle {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Errno(number: errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(number: errno) }
        guard status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFDIR else { throw NoRegularFile() }
        return file
    }

    private struct NoRegularFile: Error {}

    /// A number of `errno`, with the system's text.
    private struct Errno: LocalizedError {
        let number: Int32
        var errorDescription: String? { String(cString: strerror(number)) }
    }

    private static func reason(of error: any Error, _ path: String) -> String {
        var isDirectory = false as ObjCBool
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            return "it does not exist"
        }
        if isDirectory.boolValue { return "it is a folder" }
        if error is NoRegularFile { return "it is no regular file" }
        if !FileManager.default.isReadableFile(atPath: path) { return "its permissions do not allow it" }
        return error.localizedDescription
    }

    private static func lineOfFirstDamage(in data: Data) -> Int {
        // The text is intact up to its first damage; there the repaired text differs.
        let repaired = String(decoding: data, as: UTF8.self).utf8
        let same = zip(data, repaired).prefix { $0 == $1 }
        return same.count { $0.0 == UInt8(ascii: "\n") } + 1
    }
}
