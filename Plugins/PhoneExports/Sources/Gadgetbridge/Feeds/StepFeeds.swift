import Vitals

/// Steps of activity tables.
enum StepFeeds {
    /// Tables that count the steps of the day so far. All others hold those of the row.
    private static let cumulative: Set<String> = [
        "GARMIN_ACTIVITY_SAMPLE", "CMF_ACTIVITY_SAMPLE", "OVTOUCH26_ACTIVITY_SAMPLE",
    ]
    /// How long an activity row lasts.
    private static let minute: Duration = .minutes(1)
    /// How long a row of COLMI_ACTIVITY_SAMPLE lasts, from its TIMESTAMP on.
    private static let quarter: Duration = .minutes(15)

    static func feeds(of table: Table) -> [any Feed] {
        guard table.isActivity, table.columns.contains("STEPS") else { return [] }
        if cumulative.contains(table.name) {
            return [CountFeed(table: table.name, unit: table.unit, distance: distance(of: table)?.column)]
        }
        switch table.name {
        case "HUAWEI_ACTIVITY_SAMPLE": return huawei(table)
        case "COLMI_ACTIVITY_SAMPLE": return [feed(table, lead: .zero) { row, _ in row.moment + quarter }]
        case "WITHINGS_STEEL_HRACTIVITY_SAMPLE":
            return [
                feed(table, lead: .zero, more: "DURATION") { row, column in
                    guard let seconds = row.integer(column), (0...86_400).contains(seconds) else { return nil }
                    return row.moment + .seconds(seconds)
                }
            ]
        default: return [feed(table, lead: minute) { row, _ in row.moment }]
        }
    }

    /// Columns of a distance whose unit is known, and metres per unit.
    private static func distance(of table: Table) -> (column: String, scale: Double)? {
        if table.columns.contains("DISTANCE_CM") { return ("DISTANCE_CM", 0.01) }
        return table.columns.contains("DISTANCE_METERS") ? ("DISTANCE_METERS", 1) : nil
    }

    /// A feed of rows that end at their own moment; `end` returns `nil` where it cannot be read.
    private static func feed(
        _ table: Table, lead: Duration, more: String? = nil,
        end: @escaping @Sendable (Row, Int) -> Timestamp?
    ) -> RowFeed {
        let distance = distance(of: table)
        let columns = ["STEPS"] + (distance.map { [$0.column] } ?? []) + (more.map { [$0] } ?? [])
        return RowFeed(
            metric: .steps, table: table.name, rank: .minutes, unit: table.unit, columns: columns, lead: lead
        ) { row in
            guard let count = row.integer(0) else { return .skipped(row.absence(0)) }
            guard count > 0 else { return .nothing }
            if more != nil, row.isNull(columns.count - 1) { return .skipped(.notMeasured) }
            let start = row.moment - lead
            guard let end = end(row, columns.count - 1), let steps = Int(exactly: count),
                ValidRange.isPossible(steps: steps, in: end - start)
            else { return .skipped(.implausible) }
            let metres = distance.flatMap { scale in row.number(1).map { $0 * scale.scale } }
            return .sample(
                Sample(
                    metric: .steps, start: start, end: end,
                    reading: .count(
                        Increment(count: steps, distance: ValidRange.possible(metres: metres, in: end - start)))))
        }
    }

    /// Intervals of their own. Energy is in calories.
    private static func huawei(_ table: Table) -> [any Feed] {
        guard table.columns.isSuperset(of: ["OTHER_TIMESTAMP", "CALORIES"]) else { return [] }
        return [
            RowFeed(
                metric: .steps, table: table.name, rank: .minutes, unit: table.unit,
                columns: ["STEPS", "OTHER_TIMESTAMP", "CALORIES"], condition: table.condition
            ) { row in
                guard let count = row.integer(0) else { return .skipped(row.absence(0)) }
                guard let other = row.integer(1) else { return .skipped(row.absence(1)) }
                let end = table.unit.moment(other)
                guard count > 0, end > row.moment else { return .nothing }
                let length = end - row.moment
                guard let steps = Int(exactly: count), ValidRange.isPossible(steps: steps, in: length),
                    length <= SampleLimits.duration
                else { return .skipped(.implausible) }
                let energy = ValidRange.possible(energy: row.number(2).map { $0 / 1000 }, in: length)
                return .sample(
                    Sample(
                        metric: .steps, start: row.moment, end: end,
                        reading: .count(Increment(count: steps, energy: energy))))
            }
        ]
    }
}
