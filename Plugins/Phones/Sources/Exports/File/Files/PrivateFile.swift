import Foundation

/// A file of ours in the folder for temporary files, which only this user can read. It exists as long as the object.
final class PrivateFile {
    let path: String
    private let descriptor: Int32
    private var hasName = true

    private static let prefix = "vitals2mqtt-export-"

    /// Creates an empty file in `TMPDIR` or, since it may be large, in `/var/tmp` instead of `/tmp`, which may be memory.
    convenience init() throws(ExportError) {
        try self.init(in: ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp")
    }

    /// Creates an empty file in a folder, and removes those of processes that ended in the middle.
    init(in folder: String) throws(ExportError) {
        Self.removeStaleFiles(in: folder)
        path = "\(folder)/\(Self.prefix)\(UUID().uuidString)"
        // Exclusive: a file of this name that another program created is not used.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ExportError(
                .unavailable,
                "No copy can be made in \(folder): \(String(cString: strerror(errno))). Set TMPDIR to a folder with room."
            )
        }
        // The lock shows others that the file is in use. It ends with the process.
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    /// Removes the copies of processes that ended before a copy lost its name: it has no lock, and did not begin just now.
    private static func removeStaleFiles(in folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            let path = "\(folder)/\(name)"
            // Anyone may have put a pipe there, which would hold up the opening.
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { continue }
            defer { close(file) }
            var status = stat()
            guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                time(nil) - status.st_mtim.tv_sec > staleAge
            else { continue }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
        }
    }

    /// A file without a lock that is younger may be one whose process is about to lock it, seconds.
    private static let staleAge = 60

    deinit {
        close(descriptor)
        removeName()
    }

    /// Removes the file's name. Open descriptors still reach its content.
    func removeName() {
        guard hasName else { return }
        hasName = false
        unlink(path)
    }

    /// Appends bytes, unless the task is cancelled.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
        if Task.isCancelled { throw ExportError(.unavailable, "The copy of an export was cancelled.") }
        var done = 0
        while done < bytes.count {
            let put = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { throw .system("cannot be written; check the room on its disk", path, errno) }
            done += put
        }
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(ExportError) {
        do { try bytes.withUnsafeBytes { try write($0) } } catch let error as ExportError { throw error } catch {
            throw ExportError(.unavailable, "\(error)")
        }
    }
}
