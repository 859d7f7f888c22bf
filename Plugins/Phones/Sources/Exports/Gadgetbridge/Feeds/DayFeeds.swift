import Vitals

/// Counts of tables that are not of minutes with steps: of a day, of the time between two rows, or of Garmin's minutes of exercise.
enum DayFeeds {
    /// Una's table. Its row of half a minute after midnight has the day's totals and means; others are minutes.
    static let una = "UNA_DAILY_SAMPLE"
    /// What its rows of minutes fulfil, in SQL.
    static let isMinute = "TIMESTAMP % 60 = 0"

    static func feeds(of table: Table) -> [any Feed] {
        func has(_ columns: String...) -> Bool { table.columns.isSuperset(of: columns) }
        switch table.name {
        case una where table.unit == .seconds && has("STEPS", "FLOORS_CLIMBED"):
            return [unaTotal(.steps, "STEPS", table), unaTotal(.floors, "FLOORS_CLIMBED", table)]
        case "XIAOMI_DAILY_SUMMARY_SAMPLE" where has("STANDING"): return [xiaomiStanding(table)]
        case "GENERIC_HYDRATION_SAMPLE" where has("DAY", "VOLUME_ML"): return [hydration(table)]
        case "GARMIN_RESTING_METABOLIC_RATE_SAMPLE" where has("RESTING_METABOLIC_RATE"): return [basalEnergy(table)]
        case "GARMIN_INTENSITY_MINUTES_SAMPLE" where has("MODERATE", "VIGOROUS"): return [intensityMinutes(table)]
        default: return []
        }
    }

    /// Minutes of exercise since the row before, of both intensities. A row ends at its time, as all of Garmin's.
    private static func intensityMinutes(_ table: Table) -> RowFeed {
        RowFeed(
            metric: .exerciseMinutes, table: table.name, rank: .records, unit: table.unit,
            columns: ["MODERATE", "VIGOROUS"], lead: .minutes(1)
        ) { row in
            let minutes = [row.integer(0), row.integer(1)].compactMap { $0 }.filter { $0 > 0 }.map { Double($0) }
            guard !minutes.isEmpty else { return nothing(.exerciseMinutes, from: row.moment - .minutes(1)) }
            // Several that have gathered need as many minutes. Those before are of the row before.
            let (total, start) = (minutes.reduce(0, +), row.moment - .minutes(1))
            return result(
                .exerciseMinutes, total, from: start, to: start + .minutes(Int(min(max(total, 1), 10_080))))
        }
    }

    private static func feed(
        _ metric: Metric, _ table: Table, _ sql: String, lead: Duration = .zero,
        read: @escaping @Sendable (Row) -> RowResult
    ) -> RowFeed {
        RowFeed(
            metric: metric, table: table.name, rank: .records, unit: table.unit, sql: sql, lead: lead, read: read)
    }

    private static func result(_ metric: Metric, _ amount: Double, from start: Timestamp, to end: Timestamp)
        -> RowResult
    {
        let sample = CounterFeeds.Amount(metric: metric, column: "").sample(amount, from: start, to: end)
        return sample.map { RowResult.sample($0) } ?? .skipped(.implausible)
    }

    /// What corrects a count from this start, whichever end it had.
    private static func nothing(
        _ metric: Metric, from start: Timestamp, _ reason: SkippedRows.Reason? = nil
    ) -> RowResult { .nothing(.nothing(of: metric, from: start, to: start), reason) }

    /// A total of the day so far, from midnight until the last minute of the day that has a row.
    private static func unaTotal(_ metric: Metric, _ column: String, _ table: Table) -> RowFeed {
        feed(
            metric, table,
            """
            SELECT TIMESTAMP - 30, \(column), (
                SELECT minute.TIMESTAMP FROM \(una) AS minute WHERE minute.DEVICE_ID = total.DEVICE_ID
                AND minute.TIMESTAMP >= total.TIMESTAMP AND minute.TIMESTAMP < total.TIMESTAMP + 86370
                ORDER BY minute.TIMESTAMP DESC LIMIT 1)
            FROM \(una) AS total WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2 AND TIMESTAMP < ?3 AND TIMESTAMP % 60 = 30
            ORDER BY TIMESTAMP
            """, lead: .seconds(30)
        ) { row in
            guard let count = row.integer(0) else { return .skipped(row.absence(0)) }
            guard count > 0 else { return nothing(metric, from: row.moment) }
            guard let last = row.integer(1) else { return .irrelevant }
            return result(metric, Double(count), from: row.moment, to: table.unit.moment(last))
        }
    }

    /// The hours in which the person stood: a bit for each since TIMESTAMP, with which the day begins. The count is that of the day until
    /// its last such hour began. A negative number is of an older version of the app, which mixed up the bits.
    private static func xiaomiStanding(_ table: Table) -> RowFeed {
        feed(.standHours, table, Table.select(["STANDING"], from: table.name)) { row in
            guard row.isNull(0) || row.integer(0) != nil else { return .skipped(.unreadable) }
            guard let bits = row.integer(0), bits != 0 else { return nothing(.standHours, from: row.moment) }
            guard (0..<(1 << 24)).contains(bits) else { return .skipped(.unreadable) }
            let last = Int64.bitWidth - 1 - bits.leadingZeroBitCount
            return result(
                .standHours, Double(bits.nonzeroBitCount), from: row.moment, to: row.moment + .minutes(last * 60 + 1))
        }
    }

    /// What was drunk on a day of the phone's: the sum of its entries, of which one may be a correction below zero.
    private static func hydration(_ table: Table) -> RowFeed {
        let usable = table.unit.usable
        return feed(
            .hydration, table,
            """
            SELECT min(TIMESTAMP), sum(VOLUME_ML), max(TIMESTAMP) FROM \(table.name) WHERE DEVICE_ID = ?1
            AND TIMESTAMP >= \(usable.lowerBound) AND TIMESTAMP < \(usable.upperBound)
            GROUP BY DAY HAVING min(TIMESTAMP) >= ?2 AND min(TIMESTAMP) < ?3 ORDER BY min(TIMESTAMP)
            """
        ) { row in
            guard let volume = row.number(0), volume > 0, let last = row.integer(1) else {
                return nothing(.hydration, from: row.moment)
            }
            return result(.hydration, volume, from: row.moment, to: table.unit.moment(last))
        }
    }

    /// What a body needs at rest from one row to the next: each has the kilocalories of a whole day, which the watch works out. A pause of
    /// more than the longest day has none.
    private static func basalEnergy(_ table: Table) -> RowFeed {
        feed(
            .basalEnergy, table,
            """
            SELECT TIMESTAMP, RESTING_METABOLIC_RATE, (
                SELECT later.TIMESTAMP FROM \(table.name) AS later WHERE later.DEVICE_ID = rate.DEVICE_ID
                AND later.TIMESTAMP > rate.TIMESTAMP ORDER BY later.TIMESTAMP LIMIT 1)
            FROM \(table.name) AS rate WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2 AND TIMESTAMP < ?3 ORDER BY TIMESTAMP
            """
        ) { row in
            guard let rate = row.number(0) else { return .skipped(row.absence(0)) }
            guard rate > 0 else { return nothing(.basalEnergy, from: row.moment, .notMeasured) }
            guard let next = row.integer(1).map({ table.unit.moment($0) }), next - row.moment <= CountFeed.longest
            else { return .irrelevant }
            let days = Double((next - row.moment).inMilliseconds) / Double(Duration.days(1).inMilliseconds)
            return result(.basalEnergy, rate * days, from: row.moment, to: next)
        }
    }
}
