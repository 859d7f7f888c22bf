import Vitals

/// A table of samples of an export, as far as its names say.
struct Table: Sendable {
    let name: String
    let columns: Set<String>
    /// The unit of TIMESTAMP, by most of its rows.
    let unit: TimeUnit

    /// Whether it has one row per minute with steps, heart rate and the kind of activity.
    var isActivity: Bool { Self.isActivity(name) }

    /// The same of a table with this name.
    static func isActivity(_ name: String) -> Bool { name.hasSuffix("ACTIVITY_SAMPLE") || name == "SONY_SWR12_SAMPLE" }

    /// What its rows must fulfil, in SQL: Huawei's table has every interval twice, at its start and at its end.
    var condition: String? { name == Self.huawei ? "OTHER_TIMESTAMP > TIMESTAMP" : nil }

    /// Whether it has the columns without which its rows cannot be distinguished.
    var isComplete: Bool { name != Self.huawei || columns.contains("OTHER_TIMESTAMP") }
    private static let huawei = "HUAWEI_ACTIVITY_SAMPLE"

    /// Whether a table can be read by the rule of names: samples of a device at a time.
    static func isReadable(_ name: String, _ columns: Set<String>) -> Bool {
        name.hasSuffix("_SAMPLE") && columns.isSuperset(of: ["TIMESTAMP", "DEVICE_ID"])
    }

    /// Of several names of a column, the one that the table has.
    func first(_ names: String...) -> String? { names.first { columns.contains($0) } }
}

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
