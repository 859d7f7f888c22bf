import GRDB
import StoreAPI
import Vitals

/// Facts that the broker does not take, with the columns of the table `message`, from which they were moved.
enum QuarantineTable {
    /// The table, since version 5 of the schema. `reason` is text for a person; `set_at` is when the fact was quarantined.
    static let version5 = """
        CREATE TABLE quarantine(
            sequence INTEGER PRIMARY KEY,
            lane INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            device INTEGER NOT NULL,
            series INTEGER,
            source TEXT,
            historical INTEGER,
            user INTEGER,
            day INTEGER,
            samples INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            body BLOB,
            reason TEXT NOT NULL,
            set_at INTEGER NOT NULL
        ) STRICT;
        """

    /// All columns in the order of `OutboxTable.selection`, up to the conditions.
    static let selection = """
        SELECT aside.sequence, aside.lane, aside.kind, device.name, aside.series, series.metric, aside.source,
            aside.historical, aside.user, aside.day, aside.samples, aside.body
        FROM quarantine JOIN device ON device.id = aside.device LEFT JOIN series ON series.id = aside.series
        """

    /// Facts quarantined, by their numbers.
    static func rows(_ numbers: ClosedRange<Int64>, limit: Int, in database: Database) throws -> [OutboxRow] {
        let statement = try database.cachedStatement(
            sql: "\(selection) WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?")
        return try Row.fetchAll(statement, arguments: [numbers.lowerBound, numbers.upperBound, limit])
            .map { try OutboxRow($0) }
    }

    /// The number of facts quarantined.
    static func count(in database: Database) throws -> Int {
        try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM quarantine")) ?? 0
    }

    /// When the oldest of them was made; `nil` if there is none.
    static func oldest(in database: Database) throws -> Int64? {
        try Int64.fetchOne(try database.cachedStatement(sql: "SELECT min(made_at) FROM quarantine"))
    }
}
