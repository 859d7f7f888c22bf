import GRDB
import JSON
package import StoreAPI
import Vitals

/// A whole check of a store.
package enum StoreCheck {
    /// The most findings.
    package static let maximumFindings = 100

    /// What is wrong with a store, in sentences; nothing if it is sound. It reads the whole file, with a few megabytes of
    /// memory, changes nothing, and a gateway may be using it.
    /// - Throws: `StoreError` if the file cannot be read at all, or is no store.
    package static func findings(in path: String) throws(StoreError) -> [String] {
        try StoreCopy.withReader(of: path) { queue in
            do { return try findings(in: queue, path) } catch let error as DatabaseError
                where error.resultCode == .SQLITE_CORRUPT
            {
                return [error.message ?? "The file is damaged."]
            }
        }
    }

    private static func findings(in queue: DatabaseQueue, _ path: String) throws -> [String] {
        try queue.read { database in
            try StorePlace(path: path).checkOwner(in: database)
            let verdicts = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(maximumFindings))")
            var findings = verdicts.filter { $0 != "ok" }
            // Rows of damaged pages cannot be read.
            guard findings.isEmpty else { return findings }
            func look(_ what: String, _ sql: String, _ read: (Row) throws -> Void) throws {
                let rows = try Row.fetchCursor(database, sql: sql)
                while findings.count < maximumFindings, let row = try rows.next() {
                    do { try read(row) } catch is StoreError {
                        findings.append("\(what) \(row[0] as Int64? ?? 0) cannot be decoded.")
                    }
                }
            }
            if try database.tableExists("journal") {
                try look("The journal's record", "SELECT number, record FROM journal") {
                    _ = try JournalRecord(packed: $0.bytes(at: 1) ?? [])
                }
            }
            try look("The message", "SELECT sequence, body FROM message WHERE kind = 0") {
                _ = try SampleKeys.unpack($0.bytes(at: 1) ?? [])
            }
            try look("The message", "SELECT sequence, body FROM message WHERE kind NOT IN (0, 1)") {
                _ = try JSONValue.kept($0.bytes(at: 1))
            }
            try look("The summary of the day", "SELECT day, summary FROM day WHERE summary IS NOT NULL") {
                _ = try JSONValue.kept($0[1] as String)
            }
            let strays = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM message WHERE device NOT IN (SELECT id FROM device)")
            if let strays, strays > 0 { findings.append("\(strays) messages belong to no device.") }
            return findings
        }
    }
}
