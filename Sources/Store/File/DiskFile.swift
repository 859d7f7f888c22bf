import Foundation
import Vitals

/// The operations on a file that SQLite does for its own files, and that a copy of one needs, too.
enum DiskFile {
    /// Makes a file, or the names in a folder, durable.
    static func synchronise(_ path: String) throws(StoreError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    /// The mode of every file that the store makes: health data is for its owner, with any umask of the process. SQLite
    /// gives its log the mode of the main file.
    static let mode: mode_t = 0o600

    /// Makes an empty file where there is none.
    /// - Parameter owner: the user who gets it, in place of this process's user.
    /// - Returns: whether the file exists.
    @discardableResult
    static func create(_ path: String, for owner: StoreOwner?) -> Bool {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return errno == EEXIST }
        defer { Glibc.close(descriptor) }
        owner?.adopt(descriptor)
        // The umask may have taken a bit of it.
        return fchmod(descriptor, mode) == 0
    }

    /// Opens a regular file for reading; `nil` with `errno` if that fails, or it is a link. Opening anything else could wait for ever.
    static func open(_ path: String) -> Descriptor? {
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        guard file.status.st_mode & S_IFMT == S_IFREG else {
            errno = EINVAL
            return nil
        }
        return file
    }

    /// The first bytes of a regular file, or all of them; `nil` with `errno` if it cannot be read.
    static func read(_ path: String, upTo count: Int = .max) -> [UInt8]? {
        guard let file = open(path) else { return nil }
        defer { withExtendedLifetime(file) {} }
        guard let bytes = try? FileHandle(fileDescriptor: file.number).read(upToCount: count) else { return [] }
        return [UInt8](bytes)
    }

    /// Gives a durable file its final name, in the same folder. It replaces a file of that name.
    static func rename(_ path: String, to name: String) throws(StoreError) {
        try synchronise(path)
        guard Glibc.rename(path, name) == 0 else { throw failure(name) }
        try synchronise(URL(filePath: name).deletingLastPathComponent().path)
    }

    /// Removes the files of a database, as far as there are any.
    static func remove(database path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    private static func failure(_ path: String) -> StoreError {
        StoreError(.unavailable, "\(path) cannot be written: \(String(cString: strerror(errno))). Check its folder.")
    }
}
