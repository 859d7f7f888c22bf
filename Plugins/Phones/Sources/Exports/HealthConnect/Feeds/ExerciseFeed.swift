import GatewayKit
import Vitals

/// Exercise sessions. Distances, energies, steps and heart rates are records of their own, and belong to the session in
/// which they lie.
struct ExerciseFeed: Feed {
    static let table = "exercise_session_record_table"
    /// The most workouts that begin on one day of UTC: one every half hour, as a day's summary lists. Each of them reads the
    /// records within it, so that a file of overlapping ones would be read for hours.
    static let perDay = DailyAccumulator.workoutLimit

    let metric = Metric.sport
    var tables: [String] { [Self.table] }
    private let sessions: String
    private let distance: String?
    private let active: String?
    private let total: String?
    private let steps: String?
    private let rates: String?

    /// `nil` if there are none.
    init?(_ source: RecordSource) throws(ExportError) {
        guard let records = try source.records(Self.table, by: "start_time", with: ["end_time", "exercise_type"])
        else { return nil }
        sessions = records.select(
            ["r.end_time", "r.exercise_type", records.methodColumn, records.changeColumn])
        func amounts(_ table: String, _ column: String) throws(ExportError) -> String? {
            try source.records(table, by: "start_time", with: ["end_time", column])?
                .select(["r.end_time", "r.\(column)"])
        }
        distance = try amounts(CountKind.distances, "distance")
        active = try amounts(CountKind.activeEnergies, "energy")
        total = try amounts(CountKind.totalEnergies, "energy")
        steps = try amounts(CountKind.steps, "count")
        let valid =
            "s.beats_per_minute BETWEEN \(Int(ValidRange.heartRate.lowerBound)) AND \(Int(ValidRange.heartRate.upperBound))"
        rates = try SeriesFeeds.heartRateRecords(source)?.total(
            ["min", "avg", "max"].map { "\($0)(CASE WHEN \(valid) THEN s.beats_per_minute END)" })
    }

    func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream {
        let statement = try reading.database.statement(sessions)
        // From the day before on, so that the same ones are skipped wherever a page begins.
        statement.bind(reading.device, (reading.from - .days(1)).milliseconds, reading.to.milliseconds)
        return ExerciseStream(statement, self, reading)
    }

    /// A workout of a type, with what lies within it.
    fileprivate func sport(
        _ type: Int64, from start: Timestamp, to end: Timestamp, _ reading: ExportRange
    ) throws(ExportError) -> Sport {
        func sum(_ sql: String?) throws(ExportError) -> Double? {
            guard let sql else { return nil }
            return try Self.sum(sql, from: start, to: end, reading)
        }
        // Stored in calories.
        var energy = try sum(active)
        if energy == nil { energy = try sum(total) }
        let count = try sum(steps).flatMap { Int(exactly: $0) }
        let length = end - start
        var sport = Sport(
            activity: ExerciseType.name(of: type),
            distance: ValidRange.possible(
                try sum(distance), SampleLimits.distance, at: SampleLimits.speed, in: length),
            energy: ValidRange.possible(energy: energy.map { $0 / 1000 }, in: length),
            steps: count.flatMap { ValidRange.isPossible(steps: $0, in: length) ? $0 : nil })
        guard let rates else { return sport }
        let statement = try reading.database.statement(rates)
        statement.bind(reading.device, start.milliseconds, end.milliseconds)
        guard try statement.step() else { return sport }
        sport.minimumHeartRate = statement.number(0)
        sport.averageHeartRate = statement.number(1)?.hundredths
        sport.maximumHeartRate = statement.number(2)
        return sport
    }

    /// The sum of the records that lie within a session, `nil` without one. Of records that overlap, as two devices of an
    /// app write them, the first one counts.
    private static func sum(
        _ sql: String, from start: Timestamp, to end: Timestamp, _ reading: ExportRange
    ) throws(ExportError) -> Double? {
        let statement = try reading.database.statement(sql)
        statement.bind(reading.device, start.milliseconds, end.milliseconds)
        var sum: Double?
        var counted = start.milliseconds
        while try statement.step() {
            let row = Row(statement, unit: .milliseconds)
            guard let last = row.integer(0), let amount = row.number(1), row.moment.milliseconds >= counted,
                last >= row.moment.milliseconds, last <= end.milliseconds, amount >= 0
            else { continue }
            counted = last
            sum = (sum ?? 0) + amount
        }
        return sum
    }
}

private final class ExerciseStream: SampleStream {
    private let statement: ExportStatement
    private let feed: ExerciseFeed
    private let reading: ExportRange
    private var workouts = RecordsOfDay(limit: ExerciseFeed.perDay)

    init(_ statement: ExportStatement, _ feed: ExerciseFeed, _ reading: ExportRange) {
        self.statement = statement
        self.feed = feed
        self.reading = reading
    }

    func next() throws(ExportError) -> Candidate? {
        while try statement.step() {
            let row = Row(statement, unit: .milliseconds)
            let isAdmitted = workouts.admits(row.moment)
            guard row.moment >= reading.from else { continue }
            guard let last = row.integer(0), let type = row.integer(1) else {
                reading.skippedRows.add(.unreadable, in: ExerciseFeed.table)
                continue
            }
            let end = Timestamp(milliseconds: last)
            guard end > row.moment, end - row.moment <= SampleLimits.duration else {
                reading.skippedRows.add(.incomplete, in: ExerciseFeed.table)
                continue
            }
            guard isAdmitted else {
                reading.skippedRows.add(.tooMany, in: ExerciseFeed.table, limit: ExerciseFeed.perDay)
                continue
            }
            let sample = Sample(
                metric: .sport, start: row.moment, end: end, isUserInitiated: Records.isManual(row.integer(2)),
                changedAt: Records.change(row.integer(3)),
                reading: .sport(try feed.sport(type, from: row.moment, to: end, reading)))
            return Candidate(sample: sample, rank: .records)
        }
        return nil
    }
}
