import Vitals

extension RowFeed {
    /// Rows of a table with TIMESTAMP and DEVICE_ID.
    /// - Parameters:
    ///   - columns: those that `read` sees, by their places.
    ///   - lead: how long before its TIMESTAMP a row's sample begins.
    ///   - condition: a further condition on the rows in SQL, such as a code of the kind of value.
    init(
        metric: Metric, table: String, rank: Rank, unit: TimeUnit, columns: [String], lead: Duration = .zero,
        condition: String? = nil, read: @escaping @Sendable (Row) -> RowResult
    ) {
        self.init(
            metric: metric, table: table, rank: rank, unit: unit,
            sql: Table.select(columns, from: table, condition: condition), lead: lead, read: read)
    }
}

extension Table {
    /// Reads columns of one wearable's rows, from the second bound number until before the third, ascending by time.
    static func select(_ columns: [String], from table: String, condition: String? = nil) -> String {
        let all = (["TIMESTAMP"] + columns).map { ExportDatabase.quoted($0) }.joined(separator: ", ")
        return """
            SELECT \(all) FROM \(ExportDatabase.quoted(table))
            WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2 AND TIMESTAMP < ?3 \(condition.map { "AND \($0)" } ?? "")
            ORDER BY TIMESTAMP
            """
    }
}
