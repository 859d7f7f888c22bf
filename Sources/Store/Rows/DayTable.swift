import GRDB
import JSON
import Vitals

/// Days as rows.
enum DayTable {
    static let selection = "SELECT day, revision, is_final, summary, device_summary, updated_at FROM day"

    /// The stored data of a day: its record, the device's own summary, which may come first, and its revision, which stays when its
    /// summaries are erased.
    static func find(
        metric: Metric, day: LocalDay, series: Int64, in database: Database
    ) throws -> (record: DayRecord?, deviceSummary: DailySummary?, revision: Int) {
        let statement = try database.cachedStatement(sql: "\(selection) WHERE series = ? AND day = ?")
        guard let row = try Row.fetchOne(statement, arguments: [series, day.number]) else {
            return (nil, nil, 0)
        }
        return (try record(row, metric: metric), try deviceSummary(row, metric: metric), row[1] as Int? ?? 0)
    }

    /// The record of a row; `nil` if only the device has summarised the day.
    static func record(_ row: Row, metric: Metric) throws -> DayRecord? {
        guard let text = row[3] as String? else { return nil }
        let day = LocalDay(number: row[0])
        return DayRecord(
            summary: try DailySummary(json: .kept(text), metric: metric, day: day), revision: row[1] as Int? ?? 1,
            updatedAt: Timestamp(milliseconds: row[5] as Int64? ?? 0), isFinal: row[2] as Bool? ?? false,
            deviceSummary: try deviceSummary(row, metric: metric))
    }

    /// The device's own summary in a row; `nil` if it has made none.
    static func deviceSummary(_ row: Row, metric: Metric) throws -> DailySummary? {
        try (row[4] as String?).map {
            try DailySummary(json: .kept($0), metric: metric, day: LocalDay(number: row[0]))
        }
    }
}
