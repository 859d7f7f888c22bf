import Vitals

/// The whole sleeps of Huawei and Honor wearables: from the time of going to bed, or else of falling asleep, which is TIMESTAMP, until the
/// person woke up or got up, whichever is later. -1 is a time that the wearable does not know.
enum HuaweiSleeps {
    static let table = "HUAWEI_SLEEP_STATS_SAMPLE"
    /// The table with their stages.
    static let stages = "HUAWEI_SLEEP_STAGE_SAMPLE"

    private static let columns: Set<String> = ["TIMESTAMP", "DEVICE_ID", "BED_TIME", "RISING_TIME", "WAKEUP_TIME"]
    /// How long before falling asleep a person may have gone to bed.
    private static let margin: Duration = .days(2)

    /// Whether an export has them.
    static func areReadable(in database: ExportDatabase) -> Bool {
        Set(database.tables[table] ?? []).isSuperset(of: columns)
    }

    /// The sleeps that begin in a range, ascending. One without an end is left to the rows of its stages, and those that overlap are one.
    static let sessions: @Sendable (ExportRange) throws(ExportError) -> [WholeSleep] = {
        reading throws(ExportError) in
        let unit = TimeUnit.milliseconds
        let statement = try reading.database.statement(
            """
            SELECT CASE WHEN BED_TIME > 0 THEN BED_TIME ELSE TIMESTAMP END AS BEGIN_TIME, RISING_TIME, WAKEUP_TIME,
            TIMESTAMP FROM \(table) WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2
            AND TIMESTAMP < ?3 AND BEGIN_TIME >= ?4 AND BEGIN_TIME < ?5 ORDER BY BEGIN_TIME
            """)
        statement.bind(
            reading.device, unit.number(notBefore: reading.from - margin), unit.number(notBefore: reading.to + margin),
            unit.number(notBefore: reading.from), unit.number(notBefore: reading.to))
        var found: [WholeSleep] = []
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
                found.append(WholeSleep(start: row.moment, end: end))
            }
            // Asleep from TIMESTAMP until waking up, where both are within the bounds.
            let bounds = found[found.count - 1]
            if let slept = row.integer(2).map({ unit.moment($0) }), let woke = row.integer(1).map({ unit.moment($0) }),
                let last = bounds.end, slept < woke, slept >= bounds.start, woke <= last
            {
                found[found.count - 1].asleep =
                    bounds.asleep.map { min($0.lowerBound, slept)..<max($0.upperBound, woke) } ?? (slept..<woke)
            }
        }
        return found
    }
}
