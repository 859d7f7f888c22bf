import GRDB
import Vitals

/// Facts that the broker does not take, with the columns of the table `message`, from which they were moved.
enum QuarantineTable {
    /// All columns in the order of `OutboxTable.selection`, up to the conditions.
    static let selection = """
        SELECT quarantine.sequence, quarantine.lane, quarantine.kind, device.name, quarantine.series, series.metric,
            quarantine.source, quarantine.historical, quarantine.user, quarantine.day, quarantine.samples,
            quarantine.body
        FROM quarantine JOIN device ON device.id = quarantine.device LEFT JOIN series ON series.id = quarantine.series
        """

    /// Quarantined facts, by their numbers.
    static func rows(_ numbers: ClosedRange<Int64>, limit: Int, in database: Database) throws -> [OutboxRow] {
        let statement = try database.cachedStatement(
            sql: "\(selection) WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?")
        return try Row.fetchAll(statement, arguments: [numbers.lowerBound, numbers.upperBound, limit])
            .map { try OutboxRow($0) }
    }

    /// The number of quarantined facts.
    static func count(in database: Database) throws -> Int {
        try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM quarantine")) ?? 0
    }

    /// When the oldest of them was made; `nil` if there is none.
    static func oldest(in database: Database) throws -> Int64? {
        try Int64.fetchOne(try database.cachedStatement(sql: "SELECT min(made_at) FROM quarantine"))
    }
}
