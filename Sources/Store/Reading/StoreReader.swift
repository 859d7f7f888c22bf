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
