import Engines
import Foundation

/// The right to be the only gateway on a store: an advisory lock on a file beside it, which the kernel releases when the
/// process ends, however it ends. SQLite's own exclusive mode would also keep the `sqlite3` shell out.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    /// - Throws: `StoreError` where another process (or another store of this one) has it.
    init(path: String) throws(StoreError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                .unavailable, "\(path) cannot be opened: \(String(cString: strerror(errno))). Check the store's folder."
            )
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw StoreError(
                .unavailable, "Another gateway uses this store (it holds \(path)). End it, or set another store.path.")
        }
    }

    deinit {
        // Closing is not enough: a child that was just forked, and has not come to its `exec`, holds the descriptor too.
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }
}
