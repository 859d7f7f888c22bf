import GRDB
import Vitals

/// The hours whose statistics are pending, as rows from a first to a last hour, which count from 1970 UTC.
///
/// Samples mark one row for their series, whose `sensor` is empty. The import splits it into one row for each sensor of
/// the series, since it imports each by itself. So the table never grows beyond the number of sensors, however many
/// samples arrive.
enum PendingTable {
    /// Everything that is stored of the devices that there are: from the first sample of each series, which the key finds
    /// without a search, to now.
    static let everything = """
        INSERT INTO pending_statistics(series, sensor, first_hour, last_hour, changed_at, revision)
        SELECT id, '', lowest / 3600000, max(highest / 3600000, ?1 / 3600000 - 1), ?1, 1 FROM (
            SELECT series.id, (SELECT min(start) FROM sample WHERE series = series.id) AS lowest,
                (SELECT max(start + duration) FROM (
                    SELECT start, duration FROM sample WHERE series = series.id ORDER BY start DESC LIMIT 1)) AS highest
            FROM series JOIN device ON device.id = series.device WHERE device.known = 1)
        WHERE lowest IS NOT NULL AND true
        \(widening)
        """

    static let marking = """
        INSERT INTO pending_statistics(series, sensor, first_hour, last_hour, changed_at, revision)
        VALUES (?1, '', ?2, ?3, ?4, 1)
        \(widening)
        """

    /// The row of one sensor, from the row of its series.
    static let splitting = """
        INSERT INTO pending_statistics(series, sensor, first_hour, last_hour, changed_at, revision)
        VALUES (?1, ?5, ?2, ?3, ?4, 1)
        \(widening)
        """

    /// The hour of a row that is joining was not touched.
    private static let widening = """
        ON CONFLICT(series, sensor) DO UPDATE SET first_hour = min(first_hour, excluded.first_hour),
            last_hour = iif(is_joining, excluded.last_hour, max(last_hour, excluded.last_hour)),
            changed_at = excluded.changed_at, revision = revision + 1, is_joining = 0
        """

    static func all(in database: Database) throws -> [PendingStatistics] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT device.name, series.metric, sensor, first_hour, last_hour, changed_at, revision, is_joining
                FROM pending_statistics JOIN series ON series.id = pending_statistics.series
                    JOIN device ON device.id = series.device
                ORDER BY device.name, series.metric, sensor
                """)
        let rows = try Row.fetchAll(statement)
        return rows.compactMap { row in
            let (first, last) = (Hour(number: row[3]), Hour(number: row[4]))
            guard let device = DeviceID(row[0] as String), let metric = Metric(rawValue: row[1]), first <= last else {
                return nil
            }
            return PendingStatistics(
                device: device, metric: metric, sensor: row[2], hours: first...last,
                changedAt: Timestamp(milliseconds: row[5]), revision: row[6], isJoining: row[7])
        }
    }
}

extension Transaction {
    /// Marks the hours that were over when samples of them arrived.
    func markPending(_ outcomes: [SampleOutcome], in cached: inout CachedDevice, at moment: Timestamp) throws {
        let current = Hour(of: moment)
        var touched: [Metric: ClosedRange<Hour>] = [:]
        for outcome in outcomes where outcome.novelty != .known && outcome.stored.sample.metric.hasHistory {
            let sample = outcome.stored.sample
            let hour = Hour(of: DailySummary.decisiveMoment(of: sample))
            guard hour < current else { continue }
            // A night is shown for the rest of its day, and the night that it replaces may have ended earlier.
            let isNight = sample.metric.shape == .sleep
            let first = isNight ? hour.advanced(by: -24) : hour
            let last = isNight ? min(hour.advanced(by: 24), current.advanced(by: -1)) : hour
            let range = touched[sample.metric] ?? first...last
            touched[sample.metric] = min(range.lowerBound, first)...max(range.upperBound, last)
        }
        for (metric, hours) in touched {
            try execute(
                PendingTable.marking,
                [
                    try series(metric, of: &cached).row, hours.lowerBound.number, hours.upperBound.number,
                    moment.milliseconds,
                ])
        }
    }

    /// Begins to keep what is pending, with all that is stored, or forgets it.
    func keepPendingStatistics(_ isKept: Bool, at moment: Timestamp) throws {
        let isKeptAlready =
            try Bool.fetchOne(database.cachedStatement(sql: "SELECT keeps_pending_statistics FROM store")) ?? false
        guard isKept != isKeptAlready else { return }
        if isKept {
            try fold()
            try execute(PendingTable.everything, [moment.milliseconds])
        } else {
            try execute("DELETE FROM pending_statistics", [])
        }
        try execute("UPDATE store SET keeps_pending_statistics = ?", [isKept])
    }

    /// Replaces the hours of an entry unless it has changed since it was read. Returns whether it has not.
    func setPending(_ hours: ClosedRange<Hour>?, isJoining: Bool, of entry: PendingStatistics) throws -> Bool {
        let isEntry = """
            series = (SELECT series.id FROM series JOIN device ON device.id = series.device
                WHERE device.name = ?1 AND metric = ?2) AND sensor = ?3 AND revision = ?4
            """
        let key: [(any DatabaseValueConvertible)?] = [
            entry.device.text, entry.metric.rawValue, entry.sensor, entry.revision,
        ]
        if let hours {
            try execute(
                "UPDATE pending_statistics SET first_hour = ?5, last_hour = ?6, is_joining = ?7 WHERE \(isEntry)",
                StatementArguments(key + [hours.lowerBound.number, hours.upperBound.number, isJoining]))
        } else {
            try execute("DELETE FROM pending_statistics WHERE \(isEntry)", StatementArguments(key))
        }
        return changes > 0
    }

    /// Replaces the entry of a series by one for each of its sensors, unless it has changed since it was read. Returns
    /// whether it has not.
    func splitPending(_ entry: PendingStatistics, among sensors: [String]) throws -> Bool {
        guard try setPending(nil, isJoining: false, of: entry) else { return false }
        let series = try Int64.fetchOne(
            database,
            sql: """
                SELECT series.id FROM series JOIN device ON device.id = series.device
                WHERE device.name = ? AND metric = ?
                """, arguments: [entry.device.text, entry.metric.rawValue])
        guard let series else { return false }
        for sensor in sensors {
            try execute(
                PendingTable.splitting,
                [
                    series, entry.hours.lowerBound.number, entry.hours.upperBound.number,
                    entry.changedAt.milliseconds, sensor,
                ])
        }
        return true
    }
}
