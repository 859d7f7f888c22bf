import GatewayKit
import Vitals

/// A kind of record that counts something within an interval: a row here is all that such a table needs. A record that grows keeps its
/// start.
///
/// The units are those that Android stores, which are not always those of its interface: calories, metres, litres and grams.
struct CountKind: Sendable {
    let metric: Metric
    let table: String
    let column: String
    /// The amount of the record `r`, in SQL; `nil` for that in the column.
    var amount: String?
    /// The amount of a unit of the column, in the metric's unit.
    var scale = 1.0
    /// Whether each food or drink may be a record of its own. Those of a device that begin together are one count, and add up.
    var isSummed = false

    static let steps = "steps_record_table"
    static let distances = "distance_record_table"
    static let activeEnergies = "active_calories_burned_record_table"
    static let totalEnergies = "total_calories_burned_record_table"
    private static let nutrition = "nutrition_record_table"

    static let all: [CountKind] = [
        CountKind(metric: .steps, table: steps, column: "count"),
        CountKind(metric: .distance, table: distances, column: "distance"),
        CountKind(metric: .activeEnergy, table: activeEnergies, column: "energy", scale: 0.001),
        CountKind(metric: .totalEnergy, table: totalEnergies, column: "energy", scale: 0.001),
        CountKind(metric: .floors, table: "floors_climbed_record_table", column: "floors"),
        // 0 is moderate and 1 vigorous, of which each minute is one here. No number stands for a type that is unknown.
        CountKind(
            metric: .exerciseMinutes, table: "activity_intensity_record_table", column: "type",
            amount: "CASE WHEN r.type IN (0, 1) THEN (r.end_time - r.start_time) / 60000.0 ELSE '' END"),
        CountKind(
            metric: .hydration, table: "hydration_record_table", column: "volume", scale: 1000, isSummed: true),
        CountKind(metric: .dietaryEnergy, table: nutrition, column: "energy", scale: 0.001, isSummed: true),
        CountKind(metric: .protein, table: nutrition, column: "protein", isSummed: true),
        CountKind(metric: .carbohydrates, table: nutrition, column: "total_carbohydrate", isSummed: true),
        CountKind(metric: .fat, table: nutrition, column: "total_fat", isSummed: true),
    ]

    /// How a distance was covered, by the workout in which it lies; no other workout says it.
    private static let activities = [
        "running": "walking_running", "treadmill": "walking_running", "walking": "walking_running",
        "hiking": "walking_running", "cycling": "cycling", "indoor_cycling": "cycling", "swimming": "swimming",
        "open_water_swimming": "swimming", "wheelchair": "wheelchair",
    ]

    /// Its counts; `nil` if there are none.
    func feed(_ source: RecordSource) throws(ExportError) -> RowFeed? {
        guard let records = try source.records(table, by: "start_time", with: ["end_time", column]) else { return nil }
        let value = amount ?? "r.\(column)"
        var columns = isSummed ? ["sum(\(value))", "max(r.end_time)"] : [value, "r.end_time"]
        columns.append(try metric.has(.activity) ? Self.workout(source) : "NULL")
        return records.feed(metric, columns, isSummed: isSummed) { row, isManual in
            let activity = row.integer(2).flatMap { Self.activities[ExerciseType.name(of: $0)] }
            let qualifiers: [Qualifier: String] = activity.map { [.activity: $0] } ?? [:]
            func nothing(_ reason: SkippedRows.Reason? = nil) -> RowResult {
                let end = row.integer(1).map { max(Timestamp(milliseconds: $0), row.moment) } ?? row.moment
                return .nothing(
                    .nothing(
                        of: metric, from: row.moment, to: end, isUserInitiated: isManual, qualifiers: qualifiers),
                    reason)
            }
            if row.isNull(0) { return nothing(.notMeasured) }
            guard let value = row.number(0) else { return .skipped(.unreadable) }
            guard let last = row.integer(1) else { return .skipped(.unreadable) }
            guard let increment = Increment(amount: value * scale) else { return .skipped(.implausible) }
            // What a food does not say has the smallest number above 0 (`Constants.DEFAULT_DOUBLE`).
            guard increment.amount > 0 else { return nothing() }
            let sample = Sample(
                metric: metric, start: row.moment, end: Timestamp(milliseconds: last), isUserInitiated: isManual,
                qualifiers: qualifiers, reading: .count(increment))
            // A drink takes no time, but all that a person does has a length.
            let isAtOnce = metric.highestRate.map { $0.further > 0 } ?? true
            let hasLength = sample.end > sample.start || isAtOnce && sample.end == sample.start
            return hasLength && sample.isValid ? .sample(sample) : .skipped(.implausible)
        }
    }

    /// The type of the app's workout in which a record lies, in SQL: of those that began within a day before, as many as are read.
    private static func workout(_ source: RecordSource) throws(ExportError) -> String {
        let table = ExerciseFeed.table
        let workouts = try source.records(table, by: "start_time", with: ["end_time", "exercise_type"])
        guard workouts != nil else { return "NULL" }
        return """
            (SELECT exercise_type FROM (
                SELECT w.exercise_type, w.end_time FROM temp.\(table) AS k CROSS JOIN main.\(table) AS w ON w.row_id = k.row
                WHERE k.owner = ?1 AND k.moment <= o.moment AND k.moment > o.moment - \(Duration.days(1).inMilliseconds)
                ORDER BY k.moment DESC LIMIT \(ExerciseFeed.perDay)
            ) WHERE end_time >= r.end_time LIMIT 1)
            """
    }
}
