import Foundation
import Glibc
import Vitals

/// A folder of this user's alone, for one file whose own folder others can write, and which SQLite is to find by its name. It is
/// removed with this object.
final class StagingFolder {
    private let path: String
    /// The file in it.
    var file: String { path + "/vitals.sqlite" }

    /// The bytes that are copied at a time.
    private static let chunk = 256 << 10

    /// Creates it in `TMPDIR` or in `/var/tmp`, which unlike `/tmp` is on a disk.
    init() throws(StoreError) {
        let place = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
        var name = Array("\(place)/vitals2mqtt-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            throw StoreError(
                .unavailable,
                "No copy can be made in \(place): \(String(cString: strerror(errno))). Set TMPDIR to a folder with room."
            )
        }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard try OwnedFolder(of: file).isOwn else {
            throw StoreError(
                .unavailable,
                "Others can change names on the way to \(place). Set TMPDIR to a folder that only root can write.")
        }
    }

    deinit {
        DiskFile.remove(database: file)
        rmdir(path)
    }

    /// Copies a store from its folder, with its log if there is one.
    /// - Throws: `StoreError` if it is missing, is no regular file, or has a second name.
    func fetch(_ origin: OwnedFolder) throws(StoreError) {
        guard let source = try origin.openForReading() else {
            throw StoreError(.unavailable, "There is no file \(origin.path).")
        }
        try Self.copy(source, to: OwnedFolder(of: file))
        if let log = try origin.openForReading("-wal") { try Self.copy(log, to: OwnedFolder(of: file + "-wal")) }
    }

    /// Copies the file to another folder, in which there is none of its name, and makes it durable.
    func put(into target: OwnedFolder) throws(StoreError) {
        guard let source = DiskFile.open(file) else { throw Self.failure(file) }
        try Self.copy(source, to: target)
    }

    private static func copy(_ source: Descriptor, to target: OwnedFolder) throws(StoreError) {
        let number = target.create()
        guard number >= 0 else { throw failure(target.path) }
        let file = Descriptor(number)
        defer { withExtendedLifetime((source, file)) {} }
        do throws(StoreError) {
            var buffer = [UInt8](repeating: 0, count: chunk)
            while true {
                let count = read(source.number, &buffer, buffer.count)
                guard count >= 0 else { throw failure(target.path) }
                guard count > 0 else { break }
                var start = 0
                while start < count {
                    let written = buffer.withUnsafeBytes {
                        write(number, $0.baseAddress?.advanced(by: start), count - start)
                    }
                    guard written > 0 else { throw failure(target.path) }
                    start += written
                }
            }
            guard fsync(number) == 0 else { throw failure(target.path) }
        } catch {
            target.remove()
            throw error
        }
    }

    private static func failure(_ path: String) -> StoreError {
        StoreError(
            .unavailable,
            "\(path) cannot be copied: \(String(cString: strerror(errno))). Check its folder and the disk.")
    }
}
