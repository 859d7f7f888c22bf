import GRDB
import Testing

@testable import Store

/// The transactions of readers and the writer.
@Suite struct CachedTransactionTests {
    private struct Refusal: Error {}

    private func queue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE number(value INTEGER)") }
        return queue
    }

    private func numbers(_ database: Database) throws -> [Int] {
        try Int.fetchAll(database, sql: "SELECT value FROM number ORDER BY value")
    }

    /// Inserts a number in a transaction, and then does something else in it.
    private func insert(_ number: Int, in database: Database, then act: () throws -> Void) throws {
        try database.inCachedTransaction(.immediate) {
            try database.execute(sql: "INSERT INTO number VALUES (?)", arguments: [number])
            try act()
        }
    }

    @Test func `What a transaction wrote is stored, again and again`() throws {
        try queue().writeWithoutTransaction { database in
            for number in 1...3 {
                let count = try database.inCachedTransaction(.immediate) {
                    try database.execute(sql: "INSERT INTO number VALUES (?)", arguments: [number])
                    return try numbers(database).count
                }
                #expect(count == number)
                #expect(!database.isInsideTransaction)
            }
            #expect(try numbers(database) == [1, 2, 3])
        }
    }

    @Test func `After an error nothing is stored, and the next transaction begins`() throws {
        try queue().writeWithoutTransaction { database in
            #expect(throws: Refusal.self) { try insert(1, in: database) { throw Refusal() } }
            #expect(!database.isInsideTransaction)
            try insert(2, in: database) {}
            #expect(try numbers(database) == [2])
        }
    }

    @Test func `A transaction that SQLite ended stores nothing, and says so`() throws {
        try queue().writeWithoutTransaction { database in
            let error = #expect(throws: DatabaseError.self) {
                try database.inCachedTransaction(.immediate) {
                    try database.execute(sql: "INSERT INTO number VALUES (1)")
                    try database.execute(sql: "ROLLBACK")
                }
            }
            #expect(error?.resultCode == .SQLITE_ABORT)
            let left = try numbers(database)
            #expect(left.isEmpty)
        }
    }
}
