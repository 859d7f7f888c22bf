import Vitals

/// Steps, distance and energy of activity tables: what was counted in the time of a row.
enum CounterFeeds {
    /// A column with what was counted.
    struct Amount: Sendable {
        var metric: Metric
        var column: String
        /// Units of the metric per number in the column.
        var scale = 1.0
    }

    /// Columns beside STEPS of which it is known what they count and in which unit; the names of the tables begin with one of
    /// these, or may be any. Sources are what Gadgetbridge 0.92 writes to them and reads from them (`getDistanceCm`, and
    /// `getActiveCalories` in cal).
    private static let known: [(amount: Amount, tables: [String])] = [
        (Amount(metric: .distance, column: "DISTANCE_CM", scale: 0.01), [""]),
        (Amount(metric: .distance, column: "DISTANCE_METERS"), [""]),
        (Amount(metric: .distance, column: "DISTANCE"), ["HUAWEI_", "COLMI_", "LEFUN_"]),
        (Amount(metric: .activeEnergy, column: "ACTIVE_CALORIES"), ["GARMIN_", "XIAOMI_"]),
        (Amount(metric: .activeEnergy, column: "ACTIVE_CALORIES", scale: 0.001), ["AK102_", "KEEPHEALTH_"]),
        (Amount(metric: .activeEnergy, column: "CALORIES", scale: 0.001), ["HUAWEI_"]),
    ]
    /// Tables that count those of the day so far. All others hold those of the row.
    private static let cumulative: Set<String> = [
        "GARMIN_ACTIVITY_SAMPLE", "CMF_ACTIVITY_SAMPLE", "OVTOUCH26_ACTIVITY_SAMPLE",
    ]
    /// How long an activity row lasts.
    private static let minute: Duration = .minutes(1)
    /// How long a row of COLMI_ACTIVITY_SAMPLE lasts, from its TIMESTAMP on.
    private static let quarter: Duration = .minutes(15)

    static func feeds(of table: Table) -> [any Feed] {
        guard table.isActivity else { return [] }
        let others = known.filter { known in
            table.columns.contains(known.amount.column) && known.tables.contains { table.name.hasPrefix($0) }
        }
        let steps = table.columns.contains("STEPS") ? [Amount(metric: .steps, column: "STEPS")] : []
        return (steps + others.map(\.amount)).compactMap { feed(table, $0) }
    }

    /// What else a row of steps says of them: a distance in metres, or an energy in kilocalories.
    static func companion(of table: Table) -> Amount? {
        if table.name == "HUAWEI_ACTIVITY_SAMPLE" {
            return Amount(metric: .activeEnergy, column: "CALORIES", scale: 0.001)
        }
        if table.columns.contains("DISTANCE_CM") {
            return Amount(metric: .distance, column: "DISTANCE_CM", scale: 0.01)
        }
        return table.columns.contains("DISTANCE_METERS") ? Amount(metric: .distance, column: "DISTANCE_METERS") : nil
    }

    /// `nil` where the length of the table's rows cannot be read.
    private static func feed(_ table: Table, _ amount: Amount) -> (any Feed)? {
        if cumulative.contains(table.name) { return CountFeed(table, amount) }
        switch table.name {
        case "HUAWEI_ACTIVITY_SAMPLE":
            guard table.columns.isSuperset(of: ["OTHER_TIMESTAMP", "CALORIES"]) else { return nil }
            return feed(table, amount, lead: .zero, more: "OTHER_TIMESTAMP") { row, column in
                row.integer(column).map { table.unit.moment($0) }
            }
        case "COLMI_ACTIVITY_SAMPLE": return feed(table, amount, lead: .zero) { row, _ in row.moment + quarter }
        case "WITHINGS_STEEL_HRACTIVITY_SAMPLE":
            return feed(table, amount, lead: .zero, more: "DURATION") { row, column in
                guard let seconds = row.integer(column), (0...86_400).contains(seconds) else { return nil }
                return row.moment + .seconds(seconds)
            }
        default: return feed(table, amount, lead: minute) { row, _ in row.moment }
        }
    }

    /// A feed of rows; `end` returns `nil` where it cannot be read.
    private static func feed(
        _ table: Table, _ amount: Amount, lead: Duration, more: String? = nil,
        end: @escaping @Sendable (Row, Int) -> Timestamp?
    ) -> RowFeed {
        let companion = amount.metric == .steps ? companion(of: table) : nil
        let columns = [amount.column] + (companion.map { [$0.column] } ?? []) + (more.map { [$0] } ?? [])
        return RowFeed(
            metric: amount.metric, table: table.name, rank: .minutes, unit: table.unit, columns: columns, lead: lead,
            condition: table.condition
        ) { row in
            let start = row.moment - lead
            func nothing(_ reason: SkippedRows.Reason? = nil) -> RowResult {
                .nothing(
                    .nothing(of: amount.metric, from: start, to: max(end(row, columns.count - 1) ?? start, start)),
                    reason)
            }
            // A part of a step is none.
            guard let count = amount.metric == .steps ? row.integer(0).map({ Double($0) }) : row.number(0) else {
                guard row.isNull(0) else { return .skipped(.unreadable) }
                // A row without steps was not measured; beside them nothing else need be.
                return nothing(amount.metric == .steps ? .notMeasured : nil)
            }
            guard count > 0 else { return nothing() }
            if more != nil, row.isNull(columns.count - 1) { return .skipped(.notMeasured) }
            guard let last = end(row, columns.count - 1), last >= start else { return .skipped(.implausible) }
            let beside = companion.flatMap { scale in row.number(1).map { $0 * scale.scale } }
            guard
                let sample = amount.sample(count * amount.scale, from: start, to: last, companion, beside)
            else { return .skipped(.implausible) }
            return .sample(sample)
        }
    }
}

extension CounterFeeds.Amount {
    /// What was counted from one moment to another; `nil` if nobody can do so much in that time.
    /// - Parameters:
    ///   - companion: what a row of steps says besides.
    ///   - beside: that amount, which counts only if it is possible.
    func sample(
        _ count: Double, from start: Timestamp, to end: Timestamp, _ companion: Self? = nil, _ beside: Double? = nil
    ) -> Sample? {
        let isDistance = companion?.metric == .distance
        let length = end - start
        guard
            let increment = Increment(
                amount: count, distance: isDistance ? ValidRange.possible(metres: beside, in: length) : nil,
                energy: isDistance ? nil : ValidRange.possible(energy: beside, in: length))
        else { return nil }
        let sample = Sample(metric: metric, start: start, end: end, reading: .count(increment))
        return sample.isValid ? sample : nil
    }
}
