import Concurrency
import Foundation
import GRDB
import Synchronization
import Vitals

/// The open file of a store: its connections and its errors.
final class StoreFile: Sendable {
    let path: String
    let identity: SampleID
    let opening: StoreOpening
    /// A copy of the store as it was, if it was of an earlier version.
    let oldVersion: String?
    /// The first sign of damage since the file was opened.
    let damage = Promise<StoreError>()
    private let state: Mutex<State>

    private struct State {
        var pool: DatabasePool?
        var lock: FileLock?
        var lastError: StoreError?
    }

    /// Opens or creates the file; a damaged one is moved aside first.
    /// - Parameter atStep: called before each step of moving it aside, where a crash may come.
    init(
        path: String, migrator: DatabaseMigrator = Schema.migrator, now: Timestamp, newIdentity: SampleID,
        atStep: () -> Void = {}
    ) throws(StoreError) {
        let folder = try OwnedFolder(of: path)
        let path = folder.path
        let lock = try FileLock(of: folder)
        let place = StorePlace(path: path, migrator: migrator)
        let note = ResetNote(of: path)
        try place.endMove(note.content)
        let wasMissing = place.isEmpty
        // It was about the store that has been moved.
        if wasMissing { place.removeDamageMark() }
        let open: OpenStore
        do {
            open = try place.open(newIdentity: newIdentity)
            opening = note.opening(of: open.identity, wasMissing: wasMissing) ?? (wasMissing ? .new : .existing)
        } catch let error where error.code == .corrupt {
            let moved = try place.moveDamagedFile(at: now, for: newIdentity, atStep: atStep)
            open = try place.open(newIdentity: newIdentity)
            opening = .replacedCorrupt(path: moved)
        }
        identity = open.identity
        oldVersion = open.oldVersion
        self.path = path
        state = Mutex(State(pool: open.pool, lock: lock))
    }

    /// The connections.
    /// - Throws: `StoreError` if the store is closed, or damage was found since it was opened.
    func pool() throws(StoreError) -> DatabasePool {
        if let damage = damage.value { throw damage }
        guard let pool = state.withLock({ $0.pool }) else { throw StoreError(.closed, "The store is closed.") }
        return pool
    }

    /// Records an error. After the first sign of damage all reads and writes stop, and a mark beside the file makes the
    /// next start move it aside: the pages that a start has time to check may be intact.
    func note(_ error: StoreError) -> StoreError {
        state.withLock { $0.lastError = error }
        guard error.code == .corrupt else { return error }
        StorePlace(path: path).markDamaged()
        damage.fulfil(error)
        return error
    }

    /// Records that writing works.
    func noteSuccess() { state.withLock { $0.lastError = nil } }

    /// Why the last write failed, `nil` if it succeeded.
    var lastError: StoreError? { state.withLock { $0.lastError } }

    /// Closes the connections, which moves the log into the main file, and releases the lock.
    func close() throws(StoreError) {
        let (pool, lock) = state.withLock { state in
            (state.pool.take(), state.lock.take())
        }
        defer { withExtendedLifetime(lock) {} }
        // With the last connection SQLite does this only if that one may write; the pool closes its readers last. A
        // busy reader leaves the log to the next start, which loses nothing.
        _ = try? pool?.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        do { try pool?.close() } catch { throw StoreError(error) }
    }

    /// The size of the main file and its log, in bytes.
    var bytes: Int64 { StorePlace(path: path).bytes }
}

/// The state of the path when the store was opened.
package enum StoreOpening: Sendable, Hashable {
    /// There was no store: it is new.
    case new
    /// The existing store is used.
    case existing
    /// The old store was damaged and is now at this path: the store is new, with a new identity. Undelivered data of
    /// the old one is lost; the gateway announces gaps with reason `store_reset`.
    case replacedCorrupt(path: String)
    /// A copy was put in the place of another store, which is now at this path (`nil` if there was none): the store has a
    /// new identity. What the other one had after the copy is lost; the gateway announces gaps with reason `store_reset`.
    case restored(path: String?)
}
