import GRDB
import Vitals

extension SampleTable {
    private static let page = page(where: "true")
    /// Those that say their own offset.
    private static let pageWithOffset = page(
        where: #"fields >= '{"\#(RowHead.offset)":' AND fields < '{"\#(RowHead.offset)";'"#)

    private static func page(where condition: String) -> String {
        """
        SELECT \(columns) FROM sample
        WHERE series = (SELECT series.id FROM series JOIN device ON device.id = series.device
                WHERE device.name = ?1 AND metric = ?2)
            AND start >= ?3 AND start < ?4 AND (start, duration, user_initiated) > (?5, ?6, ?7)
            AND user_initiated & 1 BETWEEN ?9 AND ?10 AND withdrawn = 0 AND \(condition)
        ORDER BY start, duration, user_initiated LIMIT ?8
        """
    }

    /// Valid samples of a metric in key order, optionally only user-initiated ones, or only the others.
    static func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int, withOffset: Bool = false, in database: Database
    ) throws -> [StoredSample] {
        let statement = try RawStatement(withOffset ? pageWithOffset : page, in: database)
        let lower = max(range.lowerBound, after?.start ?? range.lowerBound)
        statement.bind(text: Array(device.text.utf8), at: 1)
        statement.bind(text: Array(metric.rawValue.utf8), at: 2)
        statement.bind(lower.milliseconds, at: 3)
        statement.bind(range.upperBound.milliseconds, at: 4)
        // Without a key to continue from, start before every key.
        statement.bind(after?.start.milliseconds ?? .min, at: 5)
        statement.bind(after?.duration ?? .min, at: 6)
        statement.bind(after?.code ?? Int64(0), at: 7)
        statement.bind(Int64(limit), at: 8)
        statement.bind(isUserInitiated ?? false, at: 9)
        statement.bind(isUserInitiated ?? true, at: 10)
        var result: [StoredSample] = []
        while try statement.step() { result.append(try read(statement, device: device, metric: metric)) }
        return result
    }
}

extension DayTable {
    /// The days of a metric that have a summary, ascending.
    static func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int, in database: Database
    ) throws -> [DayRecord] {
        let sql = """
            \(selection)
            WHERE series = (SELECT series.id FROM series JOIN device ON device.id = series.device
                    WHERE device.name = ? AND metric = ?)
                AND day BETWEEN ? AND ? AND summary IS NOT NULL
            ORDER BY day LIMIT ?
            """
        let rows = try Row.fetchAll(
            database.cachedStatement(sql: sql),
            arguments: [device.text, metric.rawValue, range.lowerBound.number, range.upperBound.number, limit])
        return try rows.compactMap { try record($0, metric: metric) }
    }
}
