import Concurrency
import GRDB
import Synchronization
package import Vitals

/// The store in one SQLite file. Its one writer commits the writes of many callers together.
///
/// A write queues its request and then asks the actor to commit. The first such job on the actor commits all queued
/// requests in one transaction with one `fsync`; the other jobs find their requests done. During a commit the next
/// requests gather. Each caller has one request at a time, so the number of callers limits the queue.
///
/// Reads use their own connection and executor, and see the last commit without waiting for the writer. Only those that
/// need what is in the journal let the writer fold it first.
///
/// The log file (`-wal`) is moved into the main file at about 16 MiB and shortened to at most 64 MiB. Other programs,
/// such as the `sqlite3` shell, may read meanwhile. A second gateway is refused.
package actor SQLiteStore: GatewayStore {
    package nonisolated let identity: SampleID
    /// The state of the path at the start.
    package nonisolated let opening: StoreOpening
    /// A copy of the store as it was before it was updated, if it was of an earlier version.
    package nonisolated var oldVersion: String? { file.oldVersion }
    package nonisolated let options: StoreOptions
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor
    nonisolated let reader: StoreReader
    nonisolated let file: StoreFile
    private nonisolated let waiting = Mutex<[WriteRequest]>([])
    /// Watermarks that the next commit stores.
    private nonisolated let noted = Mutex<[Lane: Int64]>([:])
    /// What readers need to know of the last commit; `nil` before the first one.
    nonisolated let summary = Mutex<CommitSummary?>(nil)
    private nonisolated let pause: @Sendable (Duration) async -> Void
    private let onCommit: @Sendable ([OutboxEntry]) -> Void
    private var cache: WriterCache?
    /// The number of transactions committed since the store was opened.
    package private(set) var commitCount = 0

    /// Opens or creates a store.
    ///
    /// A damaged file is moved aside and a new one created; `opening` says so.
    /// - Parameters:
    ///   - path: the file. Its folder must exist.
    ///   - executor: runs writes. They block, so it must not be the shared pool: `QueueExecutor`, or a simulation's.
    ///   - reading: runs reads, which block too.
    ///   - pause: waits, for requests that wait for a batch.
    ///   - now: the date, for the name of a file that is moved aside.
    ///   - newIdentity: the identity of a new store.
    ///   - onCommit: receives the entries of each commit in order, on the writer. It must not block.
    /// - Throws: `StoreError` if the file is in use, is from a newer version or another program, or cannot be opened.
    package init(
        path: String, options: StoreOptions = StoreOptions(),
        executor: any SerialExecutor = QueueExecutor(label: "store.writer"),
        reading: any SerialExecutor = QueueExecutor(label: "store.reader"),
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0, clock: .continuous) },
        now: Timestamp, newIdentity: SampleID, onCommit: @escaping @Sendable ([OutboxEntry]) -> Void = { _ in }
    ) throws(StoreError) {
        try self.init(
            StoreFile(path: path, now: now, newIdentity: newIdentity), options: options, executor: executor,
            reading: reading, pause: pause, onCommit: onCommit)
    }

    /// A store whose file is open.
    init(
        _ file: StoreFile, options: StoreOptions, executor: any SerialExecutor, reading: any SerialExecutor,
        pause: @escaping @Sendable (Duration) async -> Void, onCommit: @escaping @Sendable ([OutboxEntry]) -> Void
    ) {
        self.file = file
        self.executor = executor
        self.options = options
        self.pause = pause
        self.onCommit = onCommit
        reader = StoreReader(file: file, executor: reading)
        identity = file.identity
        opening = file.opening
    }

    /// Folds the journal, moves the log into the main file and closes it. Later calls fail with `closed`.
    package func close() throws(StoreError) {
        // What cannot be folded now, as on a full disk, is folded by the next start.
        if summary.withLock({ $0?.isJournalEmpty != true }) { try? perform([WriteRequest { try $0.fold() }]) }
        try file.close()
    }

    /// Notes that the gaps for `opening` are stored. Until then each start reports them again.
    package nonisolated func confirmOpening() { ResetNote(of: file.path).remove() }

    /// Waits until damage is found. The store is unusable from then on; the next start at its path moves it aside.
    package nonisolated func damage() async throws(CancellationError) -> StoreError { try await file.damage.wait() }

    // MARK: Group commit

    /// Writes in the next transaction, and returns once that is on disk.
    /// - Parameters:
    ///   - batchWait: how long to wait for other requests, unless one comes that does not wait.
    ///   - isUpkeep: whether it stores nothing new.
    nonisolated func write<Value: Sendable>(
        weight: Int = 1, waiting batchWait: Duration = .zero, isUpkeep: Bool = false,
        _ work: @escaping @Sendable (Transaction) throws -> Value
    ) async throws(StoreError) -> Value {
        let value = Mutex<Value?>(nil)
        let request = WriteRequest(weight: weight, isUpkeep: isUpkeep) { transaction in
            let result = try work(transaction)
            value.withLock { $0 = result }
        }
        waiting.withLock { $0.append(request) }
        if batchWait > .zero { await pause(batchWait) }
        try await commit(until: request).get()
        guard let result = value.withLock({ $0 }) else { throw StoreError(.unavailable, "The write has not run.") }
        return result
    }

    private func commit(until request: WriteRequest) -> Result<Void, StoreError> {
        while true {
            if let outcome = request.outcome { return outcome }
            commitWaiting()
        }
    }

    /// Commits the oldest waiting requests together, up to `commitLimit`.
    private func commitWaiting() {
        let requests = waiting.withLock { waiting in
            var weight = 0
            let end = waiting.firstIndex { request in
                defer { weight += request.weight }
                return weight > 0 && weight + request.weight > options.commitLimit
            }
            let taken = Array(waiting[..<(end ?? waiting.endIndex)])
            waiting.removeFirst(taken.count)
            return taken
        }
        do {
            try perform(requests)
            for request in requests { request.complete(.success(())) }
        } catch {
            if requests.count == 1 || StoreError.isOfFile(error) {
                let error = file.note(StoreError(error))
                for request in requests { request.complete(.failure(error)) }
            } else {
                // One request is at fault and must not fail the others, so each runs alone. Savepoints would find it at
                // once, but each copies the pages that it changes, every time.
                for request in requests { performAlone(request) }
            }
        }
    }

    private func performAlone(_ request: WriteRequest) {
        do {
            try perform([request])
            request.complete(.success(()))
        } catch {
            request.complete(.failure(file.note(StoreError(error))))
        }
    }

    private func perform(_ requests: [WriteRequest]) throws {
        var entries: [OutboxEntry] = []
        let pool = try file.pool()
        var known = cache
        cache = nil
        let marks = noted.withLock { noted in
            defer { noted = [:] }
            return noted
        }
        let isBulk = requests.reduce(0) { $0 + $1.weight } > Transaction.bulk
        do {
            cache = try pool.writeWithoutTransaction { database in
                try database.inCachedTransaction(.immediate) {
                    let start = try known.take() ?? WriterCache(database)
                    let transaction = try Transaction(database, cache: start, isBulk: isBulk)
                    for (lane, through) in marks { try transaction.acknowledge(lane, through: through) }
                    for request in requests { try request.work(transaction) }
                    try transaction.close()
                    entries = transaction.entries
                    return transaction.cache
                }
            }
        } catch {
            for (lane, through) in marks { note(lane, through: through) }
            throw error
        }
        commitCount += 1
        if !requests.allSatisfy(\.isUpkeep) { file.noteSuccess() }
        if let cache { summary.withLock { $0 = CommitSummary(cache) } }
        if !entries.isEmpty { onCommit(entries) }
    }

    /// Stores a watermark with the next commit of any caller.
    package nonisolated func note(_ lane: Lane, through: Int64) {
        noted.withLock { $0[lane] = max($0[lane] ?? 0, through) }
    }
}

/// A write that waits for the next commit.
final class WriteRequest: Sendable {
    /// Its share of a commit: its number of samples, at least 1.
    let weight: Int
    /// The write itself. It may run twice: once with other requests, and again alone if one of them failed.
    let work: @Sendable (Transaction) throws -> Void
    private let result = Mutex<Result<Void, StoreError>?>(nil)

    /// Whether it stores nothing new: its success does not show that there is room.
    let isUpkeep: Bool

    init(weight: Int = 1, isUpkeep: Bool = false, work: @escaping @Sendable (Transaction) throws -> Void) {
        self.weight = max(1, weight)
        self.isUpkeep = isUpkeep
        self.work = work
    }

    /// The result, `nil` while the request waits.
    var outcome: Result<Void, StoreError>? { result.withLock { $0 } }

    func complete(_ outcome: Result<Void, StoreError>) { result.withLock { $0 = outcome } }
}

extension StoreError {
    /// The store error for an error of SQLite or of the code around it.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error)
        default: self.init(.unavailable, "The store failed: \(error).")
        }
    }

    private init(_ error: DatabaseError) {
        let text = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init(.full, "The disk is full: \(text). Make room, or lower store.outbox and store.retention.")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(.corrupt, "The store is damaged: \(text). It is moved aside at the next start.")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.unavailable, "Another program holds a lock on the store: \(text). End its transaction.")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(.unavailable, "The store cannot be written: \(text). Check the owner and mode of its folder.")
        case .SQLITE_CANTOPEN:
            self.init(.unavailable, "The store cannot be opened: \(text). Check that its folder exists, and its owner.")
        case .SQLITE_MISUSE: self.init(.closed, "The store is closed.")
        default: self.init(.unavailable, "The store failed: \(text).")
        }
    }

    /// Whether the file or the disk is at fault, not one request: then every other request would fail, too.
    static func isOfFile(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is StoreError }
        switch error.resultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE, .SQLITE_ERROR: return false
        default: return true
        }
    }
}
