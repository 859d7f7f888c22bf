/// The times of one wearable's rows in a table. Its key begins with the time, so that nothing here reads all rows of a sound table.
struct TableTimes {
    /// The unit of most times; `nil` if no row has a usable one.
    let unit: TimeUnit?
    /// How many rows have none, or one of the other unit.
    let withoutTime: Int

    /// `nil` without a row of the wearable.
    init?(of table: String, _ device: Int64, in database: ExportDatabase) throws(ExportError) {
        func has(_ unit: TimeUnit) throws(ExportError) -> Bool {
            let statement = try database.statement(
                """
                SELECT 1 FROM \(ExportDatabase.quoted(table))
                WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2 AND TIMESTAMP < ?3 ORDER BY TIMESTAMP DESC LIMIT 1
                """)
            statement.bind(device, unit.usable.lowerBound, unit.usable.upperBound)
            return try statement.step()
        }
        func count(_ unit: TimeUnit) throws(ExportError) -> Int64 {
            let statement = try database.statement(
                """
                SELECT count(*) FROM \(ExportDatabase.quoted(table))
                WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2 AND TIMESTAMP < ?3
                """)
            statement.bind(device, unit.usable.lowerBound, unit.usable.upperBound)
            return try statement.step() ? statement.int64(0) : 0
        }
        switch (try has(.seconds), try has(.milliseconds)) {
        case (true, false): unit = .seconds
        case (false, true): unit = .milliseconds
        // Single rows of a damaged table must not decide for all others.
        case (true, true): unit = try count(.seconds) > count(.milliseconds) ? .seconds : .milliseconds
        case (false, false): unit = nil
        }
        withoutTime = try Self.withoutTime(table, device, in: database, unit: unit ?? .seconds)
        if unit == nil, withoutTime == 0 { return nil }
    }

    /// How many rows of a wearable have no time that is usable in a unit.
    /// - Parameters:
    ///   - column: the column of the time.
    ///   - condition: a further condition on the rows in SQL.
    static func withoutTime(
        _ table: String, _ device: Int64, in database: ExportDatabase, column: String = "TIMESTAMP", unit: TimeUnit,
        condition: String? = nil
    ) throws(ExportError) -> Int {
        let name = ExportDatabase.quoted(table)
        let more = condition.map { "AND \($0)" } ?? ""
        // Three ranges of the key, and not one condition for which all rows would be read. A text is above every number.
        let parts = ["< ?2", ">= ?3", "IS NULL"].map {
            "(SELECT count(*) FROM \(name) WHERE DEVICE_ID = ?1 AND \(column) \($0) \(more))"
        }
        let statement = try database.statement("SELECT \(parts.joined(separator: " + "))")
        statement.bind(device, unit.usable.lowerBound, unit.usable.upperBound)
        return try statement.step() ? Int(clamping: statement.int64(0)) : 0
    }
}
