import GRDB
package import Vitals

/// A whole check of a store.
package enum StoreCheck {
    /// The most findings.
    package static let maximumFindings = 100
    /// The most rows that are read in one transaction, which takes tens of milliseconds: between two of them a running
    /// gateway can move its log into the main file, so that the log does not grow for as long as the check takes.
    static let rowsAtOnce = 50_000

    /// What is wrong with a store, in sentences; nothing if it is sound. It reads the whole file, with a few megabytes of
    /// memory, changes nothing, and a gateway may be using it.
    /// - Throws: `StoreError` if the file cannot be read at all, or is no store.
    package static func findings(in path: String) throws(StoreError) -> [String] {
        try findings(in: path) {}
    }

    /// - Parameter betweenParts: called after each part of a table, while no transaction is open.
    static func findings(
        in path: String, rowsAtOnce: Int = rowsAtOnce, migrator: DatabaseMigrator = Schema.migrator,
        betweenParts: () throws -> Void
    ) throws(StoreError) -> [String] {
        try StoreCopy.withReader(of: path) { queue in
            do {
                // One statement of SQLite, which cannot be taken apart.
                let damage = try queue.read { database in
                    try StorePlace(path: path, migrator: migrator).checkOwner(in: database)
                    return try String.fetchAll(database, sql: "PRAGMA integrity_check(\(maximumFindings))")
                }.filter { $0 != "ok" }
                // Rows of damaged pages cannot be read.
                guard damage.isEmpty else { return damage }
                return try rowFindings(in: queue, rowsAtOnce: rowsAtOnce, betweenParts: betweenParts)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                return [error.message ?? "The file is damaged."]
            }
        }
    }

    private static func rowFindings(
        in queue: DatabaseQueue, rowsAtOnce: Int, betweenParts: () throws -> Void
    ) throws -> [String] {
        var findings: [String] = []
        for table in CheckedTable.all {
            var start: TableKey?
            repeat {
                start = try queue.read { database in
                    let end = try table.end(after: start, rows: rowsAtOnce, in: database)
                    findings += try table.findings(after: start, through: end, in: database)
                    return end
                }
                try betweenParts()
            } while start != nil && findings.count < maximumFindings
        }
        // The counters belong to the rows of one moment.
        findings += try queue.read { try Counters.findings(in: $0) }
        return Array(findings.prefix(maximumFindings))
    }
}
