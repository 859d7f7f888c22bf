import Foundation
import Vitals

/// Makes this the only gateway on a store, by an advisory lock on a file beside it. The kernel releases it when the
/// process ends in any way. SQLite's own exclusive mode would also lock out the `sqlite3` shell.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock of a store, by its path without links.
    /// - Throws: `StoreError` if another process (or another store of this one) holds it.
    init(of store: String) throws(StoreError) {
        let path = Self.path(of: store)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                .unavailable, "\(path) cannot be opened: \(String(cString: strerror(errno))). Check the store's folder."
            )
        }
        StoreOwner(of: store)?.adopt(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw StoreError(
                .unavailable, "Another gateway uses this store (it holds \(path)). End it, or set another store.path.")
        }
    }

    /// The file of a store's lock.
    static func path(of store: String) -> String { store + ".lock" }

    /// Whether a process holds the lock of this store. A gateway that starts at this very moment may be refused, as it would be
    /// by another one.
    static func isHeld(of store: String) -> Bool {
        let descriptor = open(path(of: store), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        flock(descriptor, LOCK_UN)
        return false
    }

    deinit {
        // Closing is not enough: a child that was just forked holds the descriptor, too, until its `exec`.
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }
}
