/// Records that no app's feed can read: those without a usable time, and those of no app.
enum UnattributedRecords {
    /// Tables whose rows have a time of their own, each with the column of it, by the table of their records.
    private static let parts: [String: (name: String, time: String)] = [
        SeriesFeeds.heartRate: ("heart_rate_record_series_table", "epoch_millis"),
        SeriesFeeds.skinTemperature: ("skin_temperature_delta_table", "epoch_millis"),
        SleepSessionNights.table: ("sleep_stages_table", "stage_start_time"),
    ]

    /// How many rows of an app have no time that can be, by table. Each table is read once, since an export has no index by time.
    /// - Parameters:
    ///   - tables: the tables of records.
    ///   - devices: the numbers of the recorders whose records are read; `nil` for all.
    static func withoutTime(
        of app: Int64, devices: [Int64]?, tables: Set<String>, in database: ExportDatabase
    ) throws(ExportError) -> [String: Int] {
        let numbers = devices?.map { String($0) }.joined(separator: ", ")
        let condition = "r.app_info_id = ?1" + (numbers.map { " AND r.device_info_id IN (\($0))" } ?? "")
        var found: [String: Int] = [:]
        for name in tables.sorted() {
            guard let table = RecordTable(name, in: database) else { continue }
            // The values of a series have the times, and not its record.
            let isSeries = parts[name] != nil && name != SleepSessionNights.table
            if !isSeries, let time = table.timeColumn {
                found[name] = try count("\(table.quoted) AS r", "r.\(time)", condition, app, database)
            }
            if let part = parts[name], Set(database.tables[part.name] ?? []).isSuperset(of: ["parent_key", part.time]) {
                let rows =
                    "main.\(ExportDatabase.quoted(part.name)) AS s CROSS JOIN \(table.quoted) AS r ON r.row_id = s.parent_key"
                found[part.name] = try count(rows, "s.\(part.time)", condition, app, database)
            }
        }
        return found.filter { $0.value > 0 }
    }

    private static func count(
        _ rows: String, _ time: String, _ condition: String, _ app: Int64, _ database: ExportDatabase
    ) throws(ExportError) -> Int {
        let usable = TimeUnit.milliseconds.usable
        let statement = try database.statement(
            """
            SELECT count(*) FROM \(rows)
            WHERE (typeof(\(time)) <> 'integer' OR \(time) < ?2 OR \(time) >= ?3) AND \(condition)
            """)
        statement.bind(app, usable.lowerBound, usable.upperBound)
        return try statement.step() ? Int(clamping: statement.int64(0)) : 0
    }

    /// How many records are of none of these apps, by table: nothing says whose they are.
    static func withoutApp(_ apps: [App], in database: ExportDatabase) throws(ExportError) -> [String: Int] {
        let numbers = apps.map { String($0.number) }.joined(separator: ", ")
        var found: [String: Int] = [:]
        for table in RecordTable.all(in: database) {
            let statement = try database.statement(
                "SELECT count(*) FROM \(table.quoted) WHERE app_info_id IS NULL OR app_info_id NOT IN (\(numbers))")
            if try statement.step(), statement.int64(0) > 0 { found[table.name] = Int(clamping: statement.int64(0)) }
        }
        return found
    }
}
