package import Engines
import GRDB
import Synchronization
package import Vitals

/// The store in one SQLite file, with one writer that commits the writes of many callers together.
///
/// A write puts its request in a queue and then asks the actor to commit what waits. The first such job on the actor takes
/// all requests there are, in one transaction with one `fsync`; the jobs of the others find their request done. While a
/// commit is under way the next requests gather. A caller has one request at a time, so the queue is as long as there are
/// callers and needs no limit of its own.
///
/// Reads have a connection and an executor of their own, and see the last commit without waiting for the writer.
///
/// The log file (`-wal`) is brought into the main file at about 16 MiB and shortened to 64 MiB at most; other programs, such
/// as the `sqlite3` shell, may read meanwhile. A second gateway is refused.
package actor SQLiteStore: GatewayStore {
    package nonisolated let identity: SampleID
    /// What was found at the path.
    package nonisolated let opening: StoreOpening
    package nonisolated let options: StoreOptions
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor
    nonisolated let reader: StoreReader
    nonisolated let file: StoreFile
    private nonisolated let waiting = Mutex<[WriteRequest]>([])
    private let onCommit: @Sendable ([Fact]) -> Void
    private var books: Books?
    /// Transactions that were committed since the store was opened.
    package private(set) var commitCount = 0

    /// Opens a store, or makes one.
    ///
    /// A damaged file is set aside and a new one made, which `opening` tells.
    /// - Parameters:
    ///   - path: the file. Its folder must exist.
    ///   - executor: where writes run. They block, so it must not be the shared pool: `QueueExecutor`, or that of a simulation.
    ///   - reading: where reads run; they block too.
    ///   - now: the date, for the name of a file that is set aside.
    ///   - newIdentity: the identity of a store that is made.
    ///   - onCommit: takes the facts of each commit in their order, on the writer. It must not block.
    /// - Throws: `StoreError` where the file is in use, made by a newer version or another program, or cannot be opened.
    package init(
        path: String, options: StoreOptions = StoreOptions(),
        executor: any SerialExecutor = QueueExecutor(label: "store.writer"),
        reading: any SerialExecutor = QueueExecutor(label: "store.reader"),
        now: Timestamp, newIdentity: SampleID, onCommit: @escaping @Sendable ([Fact]) -> Void = { _ in }
    ) throws(StoreError) {
        let file = try StoreFile(path: path, now: now, newIdentity: newIdentity)
        self.file = file
        self.executor = executor
        self.options = options
        self.onCommit = onCommit
        reader = StoreReader(file: file, executor: reading)
        identity = file.identity
        opening = file.opening
    }

    /// Brings the log into the main file and closes it. What is asked afterwards fails with `closed`.
    package func close() throws(StoreError) { try file.close() }

    /// Waits until the store is found to be damaged. It is of no use from then on; the next one that is opened at its path
    /// sets it aside.
    package nonisolated func damage() async throws(CancellationError) -> StoreError { try await file.damage.wait() }

    // MARK: Group commit

    /// Does some writing in the next transaction, and returns once that is on disk.
    nonisolated func write<Value: Sendable>(
        weight: Int = 1, _ work: @escaping @Sendable (Transaction) throws -> Value
    ) async throws(StoreError) -> Value {
        let value = Mutex<Value?>(nil)
        let request = WriteRequest(weight: weight) { transaction in
            let result = try work(transaction)
            value.withLock { $0 = result }
        }
        waiting.withLock { $0.append(request) }
        try await commit(until: request).get()
        guard let result = value.withLock({ $0 }) else { throw StoreError(.unavailable, "The store did nothing.") }
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
            for request in requests { request.finish(.success(())) }
        } catch {
            if requests.count == 1 || StoreError.isOfFile(error) {
                let error = file.note(StoreError(error))
                for request in requests { request.finish(.failure(error)) }
            } else {
                // One of them is at fault, and must not spoil the others: each alone. Savepoints would find out at once, but
                // each copies the pages that it changes, every time.
                for request in requests { performAlone(request) }
            }
        }
    }

    private func performAlone(_ request: WriteRequest) {
        do {
            try perform([request])
            request.finish(.success(()))
        } catch {
            request.finish(.failure(file.note(StoreError(error))))
        }
    }

    private func perform(_ requests: [WriteRequest]) throws {
        var facts: [Fact] = []
        let pool = try file.pool()
        let known = books
        books = nil
        books = try pool.writeWithoutTransaction { database in
            var books: Books?
            try database.inTransaction(.immediate) {
                let transaction = Transaction(database, books: try known ?? Books(database))
                for request in requests { try request.work(transaction) }
                try transaction.close()
                books = transaction.books
                facts = transaction.facts
                return .commit
            }
            return books
        }
        commitCount += 1
        file.noteSuccess()
        if !facts.isEmpty { onCommit(facts) }
    }
}
