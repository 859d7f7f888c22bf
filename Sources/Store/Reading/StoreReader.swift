import GRDB
import Vitals

/// Reads the last commit, independently of the writer.
actor StoreReader {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private let file: StoreFile

    init(file: StoreFile, executor: any SerialExecutor) {
        self.file = file
        self.executor = executor
    }

    /// Returns when the reader takes its turn: whether no read hangs.
    func answer() {}

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) throws(StoreError) -> Value {
        do {
            // Unlike `read` it begins no transaction of its own, which GRDB would compile each time.
            return try file.pool().unsafeRead { database in
                try database.inCachedTransaction(.deferred) { try body(database) }
            }
        } catch { throw file.note(StoreError(error)) }
    }
}

extension Database {
    /// Runs `body` in a transaction: all that it reads is of one moment, and all that it writes is stored, or nothing.
    ///
    /// GRDB's own transactions compile `BEGIN` and `COMMIT` anew each time, which costs about as much as a small write.
    /// - Parameter kind: `deferred` for reads, `immediate` for writes.
    /// - Throws: what `body` throws, or a `DatabaseError`; then nothing is stored.
    func inCachedTransaction<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
        try cachedStatement(sql: "BEGIN \(kind.rawValue) TRANSACTION").execute()
        do {
            let value = try body()
            // SQLite itself ends a transaction after some errors.
            guard isInsideTransaction else {
                throw DatabaseError(resultCode: .SQLITE_ABORT, message: "the transaction was ended")
            }
            try cachedStatement(sql: "COMMIT TRANSACTION").execute()
            return value
        } catch {
            // The first error says why. Rolling back fails only if there is no transaction any more, or the file is damaged.
            try? rollback()
            throw error
        }
    }
}
