import Vitals

/// The whole sleeps of Huawei and Honor wearables: from the time of going to bed until the person woke up or got up, whichever is later.
/// -1 is a time that the wearable does not know.
enum HuaweiSleeps {
    static let table = "HUAWEI_SLEEP_STATS_SAMPLE"
    /// The table with their stages.
    static let stages = "HUAWEI_SLEEP_STAGE_SAMPLE"

    private static let columns: Set<String> = ["TIMESTAMP", "DEVICE_ID", "BED_TIME", "RISING_TIME", "WAKEUP_TIME"]
    /// How far a row's TIMESTAMP, of which nothing says what it is, may be from the beginning of its sleep.
    private static let margin: Duration = .days(2)

    /// Whether an export has them.
    static func areReadable(in database: ExportDatabase) -> Bool {
        Set(database.tables[table] ?? []).isSuperset(of: columns)
    }

    /// The sleeps that begin in a range, ascending. One without a beginning or an end is left to the rows of its stages, and those
    /// that overlap are one.
    static let sessions: @Sendable (ExportRange) throws(ExportError) -> [(start: Timestamp, end: Timestamp?)] = {
        reading throws(ExportError) in
        let unit = TimeUnit.milliseconds
        let statement = try reading.database.statement(
            """
            SELECT BED_TIME, RISING_TIME, WAKEUP_TIME FROM \(table) WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2
            AND TIMESTAMP < ?3 AND BED_TIME >= ?4 AND BED_TIME < ?5 ORDER BY BED_TIME
            """)
        statement.bind(
            reading.device, unit.number(notBefore: reading.from - margin), unit.number(notBefore: reading.to + margin),
            unit.number(notBefore: reading.from), unit.number(notBefore: reading.to))
        var found: [(start: Timestamp, end: Timestamp?)] = []
        var sleeps = RecordsOfDay(limit: NightLimits.perDay)
        while try statement.step() {
            let row = Row(statement, unit: unit)
            let ends = [row.integer(0), row.integer(1)].compactMap { $0 }.map { unit.moment($0) }
            guard let end = ends.max(), end > row.moment else { continue }
            guard sleeps.admits(row.moment) else {
                reading.skip(.tooMany, in: table, at: row.moment, limit: NightLimits.perDay)
                continue
            }
            if let last = found.last, let lastEnd = last.end, row.moment < lastEnd,
                max(end, lastEnd) - last.start <= NightLimits.night
            {
                found[found.count - 1].end = max(end, lastEnd)
            } else {
                found.append((row.moment, end))
            }
        }
        return found
    }
}
