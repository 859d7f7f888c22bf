import GRDB
import StoreAPI
import Vitals

/// The hours whose statistics are due, as rows: one for each series, from the first to the last hour. So the table never
/// grows beyond the number of series, however many samples arrive. Hours count from 1970 UTC.
enum DueTable {
    static let version7 = """
        CREATE TABLE due_statistics(
            series INTEGER PRIMARY KEY,
            first_hour INTEGER NOT NULL,
            last_hour INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            revision INTEGER NOT NULL
        ) STRICT;

        -- Whether due_statistics is kept: only if somebody imports the statistics.
        ALTER TABLE store ADD COLUMN keeps_due_statistics INTEGER NOT NULL DEFAULT 0;
        """

    /// Everything that is stored: from the first sample of each series, which the key finds without a search, to now.
    static let everything = """
        INSERT INTO due_statistics(series, first_hour, last_hour, changed_at, revision)
        SELECT id, lowest / 3600000, max(highest / 3600000, ?1 / 3600000 - 1), ?1, 1 FROM (
            SELECT id, (SELECT min(start) FROM sample WHERE series = series.id) AS lowest,
                (SELECT max(start + duration) FROM (
                    SELECT start, duration FROM sample WHERE series = series.id ORDER BY start DESC LIMIT 1)) AS highest
            FROM series)
        WHERE lowest IS NOT NULL AND true
        ON CONFLICT(series) DO UPDATE SET first_hour = min(first_hour, excluded.first_hour),
            last_hour = max(last_hour, excluded.last_hour), revision = revision + 1
        """

    static let marking = """
        INSERT INTO due_statistics(series, first_hour, last_hour, changed_at, revision) VALUES (?1, ?2, ?3, ?4, 1)
        ON CONFLICT(series) DO UPDATE SET first_hour = min(first_hour, ?2), last_hour = max(last_hour, ?3),
            changed_at = ?4, revision = revision + 1
        """

    static func all(in database: Database) throws -> [DueStatistics] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT device.name, series.metric, first_hour, last_hour, changed_at, revision
                FROM due_statistics JOIN series ON series.id = due_statistics.series
                    JOIN device ON device.id = series.device
                ORDER BY device.name, series.metric
                """)
        let rows = try Row.fetchAll(statement)
        return rows.compactMap { row in
            let (first, last) = (Hour(number: row[2]), Hour(number: row[3]))
            guard let device = DeviceID(row[0] as String), let metric = Metric(rawValue: row[1]), first <= last else {
                return nil
            }
            return DueStatistics(
                device: device, metric: metric, hours: first...last,
                changedAt: Timestamp(milliseconds: row[4]), revision: row[5])
        }
    }
}

extension Transaction {
    /// Marks the hours that were over when samples of them arrived.
    func markDue(_ outcomes: [SampleOutcome], in cached: inout CachedDevice, at moment: Timestamp) throws {
        let current = Hour(of: moment)
        var touched: [Metric: ClosedRange<Hour>] = [:]
        for outcome in outcomes where outcome.novelty != .known && outcome.stored.sample.metric.hasHistory {
            let sample = outcome.stored.sample
            let hour = Hour(of: DailySummary.decisiveMoment(of: sample))
            guard hour < current else { continue }
            // A night is shown for the rest of its day.
            let last = sample.metric.shape == .sleep ? min(hour.advanced(by: 24), current.advanced(by: -1)) : hour
            let range = touched[sample.metric] ?? hour...last
            touched[sample.metric] = min(range.lowerBound, hour)...max(range.upperBound, last)
        }
        for (metric, hours) in touched {
            try execute(
                DueTable.marking,
                [
                    try series(metric, of: &cached).row, hours.lowerBound.number, hours.upperBound.number,
                    moment.milliseconds,
                ])
        }
    }

    /// Begins to keep what is due, with all that is stored, or forgets it.
    func keepDueStatistics(_ isKept: Bool, at moment: Timestamp) throws {
        let isKeptAlready =
            try Bool.fetchOne(database.cachedStatement(sql: "SELECT keeps_due_statistics FROM store")) ?? false
        guard isKept != isKeptAlready else { return }
        if isKept {
            try fold()
            try execute(DueTable.everything, [moment.milliseconds])
        } else {
            try execute("DELETE FROM due_statistics", [])
        }
        try execute("UPDATE store SET keeps_due_statistics = ?", [isKept])
    }

    /// Replaces the hours of an entry unless it has changed since it was read. Returns whether it has not.
    func setDue(_ hours: ClosedRange<Hour>?, of entry: DueStatistics) throws -> Bool {
        let series = """
            (SELECT series.id FROM series JOIN device ON device.id = series.device
                WHERE device.name = ?1 AND metric = ?2) AND revision = ?3
            """
        if let hours {
            try execute(
                "UPDATE due_statistics SET first_hour = ?4, last_hour = ?5 WHERE series = \(series)",
                [
                    entry.device.text, entry.metric.rawValue, entry.revision, hours.lowerBound.number,
                    hours.upperBound.number,
                ])
        } else {
            try execute(
                "DELETE FROM due_statistics WHERE series = \(series)",
                [entry.device.text, entry.metric.rawValue, entry.revision])
        }
        return changes > 0
    }
}
