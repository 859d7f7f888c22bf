import GRDB
import JSON
import Vitals

/// The values of a primary key.
typealias TableKey = [DatabaseValue]

/// A table that the check reads in parts, and how it checks a row.
struct CheckedTable: Sendable {
    /// A row of another table to which rows refer, by its number.
    struct References {
        var devices: Set<Int64>
        /// The metrics of series; `nil` for one that this version does not know.
        var series: [Int64: Metric?]

        init(_ database: Database) throws {
            devices = Set(try Int64.fetchAll(database, sql: "SELECT id FROM device"))
            series = try Row.fetchAll(database, sql: "SELECT id, metric FROM series").reduce(into: [:]) { series, row in
                series.updateValue(Metric(rawValue: row[1]), forKey: row[0])
            }
        }
    }

    let name: String
    /// What a finding calls a row, followed by its first column.
    let row: String
    /// The columns of the primary key.
    let key: [String]
    let columns: String
    /// The rows that are decoded; the others are only counted.
    var condition = "true"
    /// What is wrong with a row, as the end of a sentence. An error of the store means that the row cannot be decoded.
    let fault: @Sendable (Row, References) throws -> String?

    private var keyList: String { "(\(key.joined(separator: ", ")))" }
    private var marks: String { "(\(key.map { _ in "?" }.joined(separator: ", ")))" }

    /// The last key of a part of the table; `nil` for the last part.
    func end(after start: TableKey?, rows: Int, in database: Database) throws -> TableKey? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT \(key.joined(separator: ", ")) FROM \(name) \(start == nil ? "" : "WHERE \(keyList) > \(marks)")
                ORDER BY \(key.joined(separator: ", ")) LIMIT 1 OFFSET \(rows - 1)
                """, arguments: StatementArguments(start ?? []))
        return row.map { Array($0.databaseValues) }
    }

    /// What is wrong with the rows of a part.
    func findings(after start: TableKey?, through end: TableKey?, in database: Database) throws -> [String] {
        let bounds = [start.map { _ in "\(keyList) > \(marks)" }, end.map { _ in "\(keyList) <= \(marks)" }]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(columns) FROM \(name) WHERE \((bounds.compactMap { $0 } + ["(\(condition))"]).joined(separator: " AND "))
                ORDER BY \(key.joined(separator: ", "))
                """, arguments: StatementArguments((start ?? []) + (end ?? [])))
        let references = try References(database)
        var findings: [String] = []
        while findings.count < StoreCheck.maximumFindings, let row = try rows.next() {
            let fault: String?
            do { fault = try self.fault(row, references) } catch is StoreError { fault = "cannot be decoded" }
            if let fault { findings.append("\(self.row) \(Self.text(of: row[0])) \(fault).") }
        }
        return findings
    }

    private static func text(of value: DatabaseValue) -> String {
        switch value.storage {
        case .int64(let number): "\(number)"
        case .string(let text): text
        default: "without a number"
        }
    }
}
