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

    /// Samples that are more than a number. The rows come one by one: a year of them would not fit into memory.
    private static let samplesWithFields = """
        SELECT sample.start, series.metric, sample.value, sample.fields
        FROM sample JOIN series ON series.id = sample.series
        WHERE sample.fields IS NOT NULL OR series.metric IN ('blood_pressure', 'sleep', 'sport')
        """

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
            for (table, what) in [("message", "The message"), ("aside", "The fact set aside")] {
                guard try database.tableExists(table) else { continue }
                try look(what, "SELECT sequence, body FROM \(table) WHERE kind = 0") {
                    _ = try SampleKeys.unpack($0.bytes(at: 1) ?? [])
                }
                try look(what, "SELECT sequence, body FROM \(table) WHERE kind NOT IN (0, 1)") {
                    _ = try JSONValue.kept($0.bytes(at: 1))
                }
            }
            try look("The sample with the start", Self.samplesWithFields) { row in
                guard let metric = Metric(rawValue: row[1]) else { return }
                let fields = row.bytes(at: 3)
                _ = try metric.qualifiers(fields: fields)
                _ = try Reading(metric: metric, value: row[2] as Double? ?? 0, fields: fields)
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
