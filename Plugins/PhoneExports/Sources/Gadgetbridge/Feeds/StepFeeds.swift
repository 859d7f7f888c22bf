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

    /// A distance or an energy that can be; -1 and 0 are not measured. Without it the steps still count.
    static func plausible(_ amount: Double, _ range: ClosedRange<Double>) -> Double? {
        amount > 0 && range.contains(amount) ? amount : nil
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
            guard let end = end(row, columns.count - 1), let steps = Int(exactly: count),
                SampleLimits.steps.contains(steps)
            else { return .skipped(.implausible) }
            let metres = distance.flatMap { scale in row.number(1).map { $0 * scale.scale } }
            return .sample(
                Sample(
                    metric: .steps, start: row.moment - lead, end: end,
                    reading: .count(
                        Increment(count: steps, distance: metres.flatMap { plausible($0, SampleLimits.distance) }))))
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
                guard let steps = Int(exactly: count), SampleLimits.steps.contains(steps),
                    end - row.moment <= SampleLimits.duration
                else { return .skipped(.implausible) }
                let energy = row.number(2).flatMap { plausible($0 / 1000, SampleLimits.energy) }
                return .sample(
                    Sample(
                        metric: .steps, start: row.moment, end: end,
                        reading: .count(Increment(count: steps, energy: energy))))
            }
        ]
    }
}
