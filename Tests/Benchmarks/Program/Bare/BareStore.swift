import Foundation
import GRDB

/// SQLite at full speed on this disk, with the settings of the gateway's store: WAL, and a full sync at every commit.
struct BareStore {
    private static let batch = 1000

    private let queue: DatabaseQueue

    init(folder: URL) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        }
        queue = try DatabaseQueue(path: folder.appending(path: "bare.sqlite").path, configuration: configuration)
        try queue.write { database in
            try database.execute(
                sql: "CREATE TABLE sample (number INTEGER PRIMARY KEY, id BLOB, start INTEGER, value REAL)")
        }
    }

    /// Transactions of one row, per second.
    func transactionRate(seconds: Double) throws -> Double { try rate(seconds: seconds, rows: 1) }
    /// Rows per second, in transactions of a thousand.
    func rowRate(seconds: Double) throws -> Double { try rate(seconds: seconds, rows: Self.batch) }

    private func rate(seconds: Double, rows: Int) throws -> Double {
        let id = Data(repeating: 0xA5, count: 16)
        var count = 0
        let start = Instant.steady
        while Instant.seconds(since: start) < seconds {
            try queue.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    let statement = try database.cachedStatement(
                        sql: "INSERT INTO sample (id, start, value) VALUES (?, ?, ?)")
                    for row in 0..<rows {
                        statement.setUncheckedArguments([id, Int64(count + row), 60.0])
                        try statement.execute()
                    }
                    return .commit
                }
            }
            count += rows
        }
        return Double(count) / Instant.seconds(since: start)
    }
}
