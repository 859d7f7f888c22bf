import Foundation
import Vitals

/// Makes this the only gateway on a store, by an advisory lock on a file beside it. The kernel releases it when the
/// process ends in any way. SQLite's own exclusive mode would also lock out the `sqlite3` shell.
final class FileLock: Sendable {
    private let descriptor: Descriptor

    /// Takes the lock of a store.
    /// - Throws: `StoreError` if another process (or another store of this one) holds it, or what is in its place is no lock.
    init(of store: OwnedFolder) throws(StoreError) {
        let path = Self.path(of: store.path)
        descriptor = try store.openBeside(Self.suffix)
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(
                .unavailable, "Another gateway uses this store (it holds \(path)). End it, or set another store.path.")
        }
    }

    private static let suffix = ".lock"

    /// The file of a store's lock.
    static func path(of store: String) -> String { store + suffix }

    /// Whether a process holds the lock of this store. A gateway that starts at this very moment may be refused, as it would be
    /// by another one.
    static func isHeld(of store: String) -> Bool {
        guard let lock = DiskFile.open(path(of: store)) else { return false }
        defer { withExtendedLifetime(lock) {} }
        guard flock(lock.number, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        flock(lock.number, LOCK_UN)
        return false
    }

    deinit {
        // Closing is not enough: a child that was just forked holds the descriptor, too, until its `exec`.
        flock(descriptor.number, LOCK_UN)
    }
}
