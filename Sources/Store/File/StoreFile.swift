import Engines
import Foundation
import GRDB
import Synchronization
import Vitals

/// The file of a store, open: its connections, and what is known of its health.
final class StoreFile: Sendable {
    let path: String
    let identity: SampleID
    let opening: StoreOpening
    /// Opened with the first sign of damage since the file was opened.
    let damage = Latch<StoreError>()
    private let state: Mutex<State>

    private struct State {
        var pool: DatabasePool?
        var lock: FileLock?
        var lastError: StoreError?
    }

    /// Opens the file, or makes it; one that is damaged is set aside first.
    init(path: String, now: Timestamp, newIdentity: SampleID) throws(StoreError) {
        let lock = try FileLock(path: path + ".lock")
        let place = StorePlace(path: path)
        let pool: DatabasePool
        do {
            let found = place.isEmpty ? StoreOpening.new : .existing
            (pool, identity) = try place.open(newIdentity: newIdentity)
            opening = found
        } catch let error where error.code == .corrupt {
            let aside = try place.setAside(at: now)
            (pool, identity) = try place.open(newIdentity: newIdentity)
            opening = .replacedCorrupt(path: aside)
        }
        self.path = path
        state = Mutex(State(pool: pool, lock: lock))
    }

    /// The connections.
    /// - Throws: `StoreError` where the store is closed, or was found to be damaged since it was opened.
    func pool() throws(StoreError) -> DatabasePool {
        if let damage = damage.value { throw damage }
        guard let pool = state.withLock({ $0.pool }) else { throw StoreError(.closed, "The store is closed.") }
        return pool
    }

    /// Takes note of an error. After the first sign of damage nothing more is read or written, and a mark beside the file lets
    /// the next start set it aside: the pages that a start can check in time may be in order.
    func note(_ error: StoreError) -> StoreError {
        state.withLock { $0.lastError = error }
        guard error.code == .corrupt else { return error }
        StorePlace(path: path).markDamaged()
        damage.open(error)
        return error
    }

    /// Takes note that writing works.
    func noteSuccess() { state.withLock { $0.lastError = nil } }

    /// Why the last write failed, `nil` where it did not.
    var lastError: StoreError? { state.withLock { $0.lastError } }

    /// Closes the connections, which brings the log into the main file, and gives up the lock.
    func close() throws(StoreError) {
        let (pool, lock) = state.withLock { state in
            (state.pool.take(), state.lock.take())
        }
        defer { withExtendedLifetime(lock) {} }
        // SQLite does it with the last connection only where that one may write; the pool closes its readers last. A
        // reader that is still busy keeps the log for the next start, which loses nothing.
        _ = try? pool?.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        do { try pool?.close() } catch { throw StoreError(error) }
    }

    /// The size of the main file and its log, in bytes.
    var bytes: Int64 { StorePlace(path: path).bytes }
}
