import Foundation

/// A file of ours in the folder for temporary files, which only this user can read. It exists as long as the object.
final class PrivateFile {
    let path: String
    private let descriptor: Int32
    private var hasName = true

    /// Creates an empty file in `TMPDIR` or, since it may be large, in `/var/tmp` instead of `/tmp`, which may be memory.
    init() throws(ExportError) {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
        path = "\(folder)/vitals2mqtt-export-\(UUID().uuidString)"
        // Exclusive: whoever else has made a file of this name does not get the copy.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ExportError(
                .unavailable,
                "No copy can be made in \(folder): \(String(cString: strerror(errno))). Set TMPDIR to a folder with room."
            )
        }
    }

    deinit {
        close(descriptor)
        removeName()
    }

    /// Removes the file's name. Whoever has it open still has its content.
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
