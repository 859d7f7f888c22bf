import Vitals

/// The rule of names: a column of this name, in any table, holds this metric.
enum ValueFeeds {
    /// Tables whose values are not of a person, or of a moment.
    private static let foreign = ["MIJIA", "BATTERY"]
    /// Wearables that store the rate as a signed byte, so that 131 becomes -125.
    private static let wrapped = "HUAWEI_"
    /// The most oxygen that a person takes up, mL/(kg·min).
    static let oxygenUptake: ClosedRange<Double> = 3...100

    /// The feeds of a table of samples.
    /// - Parameter temperature: what temperatures are of that have neither a kind nor a place.
    static func feeds(of table: Table, temperature: UnspecifiedTemperature?) -> [any Feed] {
        guard !foreign.contains(where: { table.name.hasPrefix($0) }) else { return [] }
        return heartRates(table) + oxygen(table) + stress(table) + temperatures(table, unspecified: temperature)
            + pressures(table)
            + others(table)
    }

    // MARK: - Families of columns

    private static func heartRates(_ table: Table) -> [any Feed] {
        var feeds: [any Feed] = []
        let isWrapped = table.name.hasPrefix(wrapped)
        @Sendable func convert(_ value: Double) -> Double {
            isWrapped && (-128...(-2)).contains(value) ? value + 256 : value
        }
        // The highest of a day has no moment of its own.
        if table.columns.contains("HEART_RATE"), !table.name.contains("_MAX_") {
            let isResting = table.name.contains("RESTING")
            let feed = value(
                isResting ? .restingHeartRate : .heartRate, "HEART_RATE", ValidRange.heartRate, table,
                // The mean of a day has no moment of its own, either.
                condition: table.name == DayFeeds.una ? DayFeeds.isMinute : nil, convert: convert)
            feeds.append(isResting ? DailyFeed(of: feed) : feed)
        }
        if table.columns.contains("RESTING_HEART_RATE") {
            feeds.append(
                DailyFeed(
                    of: value(.restingHeartRate, "RESTING_HEART_RATE", ValidRange.heartRate, table, convert: convert)))
        }
        if table.columns.contains("HR_RESTING") {
            feeds.append(DailyFeed(of: value(.restingHeartRate, "HR_RESTING", ValidRange.heartRate, table)))
        }
        if table.columns.contains("PULSE_RATE") {
            feeds.append(value(.heartRate, "PULSE_RATE", ValidRange.heartRate, table))
        }
        return feeds
    }

    private static func oxygen(_ table: Table) -> [any Feed] {
        guard let column = table.first("SPO2", "SPO", "SPO2_PERCENT") else { return [] }
        return [value(.bloodOxygen, column, ValidRange.bloodOxygen, table)]
    }

    private static func stress(_ table: Table) -> [any Feed] {
        guard table.columns.contains("STRESS") else { return [] }
        return [value(.stress, "STRESS", ValidRange.stress, table)]
    }

    private static func others(_ table: Table) -> [any Feed] {
        var feeds: [any Feed] = []
        func add(_ metric: Metric, _ column: String?, _ range: ClosedRange<Double>) {
            guard let column, table.columns.contains(column) else { return }
            feeds.append(value(metric, column, range, table))
        }
        add(
            Metric.heartRateVariability, table.name.hasSuffix("_HRV_VALUE_SAMPLE") ? "VALUE" : nil,
            ValidRange.variability)
        let isBreath = table.name.hasSuffix("RESPIRATORY_RATE_SAMPLE")
        add(
            Metric.respiratoryRate, isBreath ? table.first("RESPIRATORY_RATE", "RATE") : nil,
            ValidRange.respiratoryRate)
        add(Metric.vo2Max, table.name == "WENA3_VO2_SAMPLE" ? "VO2" : nil, oxygenUptake)
        if table.name == "GENERIC_METRIC_SAMPLE", table.columns.isSuperset(of: ["METRIC_TYPE", "METRIC_SCORE"]) {
            // Of Gadgetbridge's kinds (`MetricSample`), in mL/(kg·min): 6 by all of the day, 12 by a workout. 11 is Garmin's metabolic
            // rate, which has a table of its own, and others are the makers' scores.
            feeds.append(value(.vo2Max, "METRIC_SCORE", oxygenUptake, table, condition: "METRIC_TYPE IN (6, 12)"))
        }
        add(Metric.weight, "WEIGHT_KG", ValidRange.weight)
        add(Metric.bloodGlucose, "VALUE_MG_DL", ValidRange.glucose)
        return feeds
    }

    // MARK: - Rows

    /// Rows with codes whose meaning is unknown: none of them is a sample, and each is counted.
    /// - Parameter known: the codes in `column` that other feeds read.
    static func unknownCodes(in column: String, of table: Table, known: [Int64], with metric: Metric) -> RowFeed {
        let list = known.map { "\($0)" }.joined(separator: ", ")
        return RowFeed(
            metric: metric, table: table.name, rank: .records, unit: table.unit, columns: [],
            condition: "(\(column) IS NULL OR \(column) NOT IN (\(list)))"
        ) { _ in .skipped(.unknownCode) }
    }

    /// A column that holds one number of a metric.
    static func value(
        _ metric: Metric, _ column: String, _ range: ClosedRange<Double>, _ table: Table,
        condition: String? = nil, isUserInitiated: Bool = false,
        convert: @escaping @Sendable (Double) -> Double = { $0 }
    ) -> RowFeed {
        let isManual = isUserInitiated || table.name.contains("_MANUAL_")
        let kinds = table.columns.contains("TYPE_NUM")
        let users = column == "PULSE_RATE" && table.columns.contains("USER_INDEX")
        let more = kinds ? ["TYPE_NUM"] : users ? ["USER_INDEX"] : []
        return RowFeed(
            metric: metric, table: table.name, rank: table.isActivity ? .minutes : .records, unit: table.unit,
            columns: [column] + more, condition: condition ?? table.condition
        ) { row in
            // 0 manual, 1 automatic, 2 unknown.
            let isUserInitiated = isManual || kinds && row.integer(1) == 0
            let user = users ? row.user(1) : nil
            // Columns that the app added later are empty in older rows, and in minutes without this measurement.
            guard let value = row.number(0).map(convert) else {
                guard row.isNull(0) else { return .skipped(.unreadable) }
                return .notMeasured(metric, at: row.moment, isUserInitiated: isUserInitiated, user: user)
            }
            guard range.contains(value) else {
                guard ValidRange.notMeasured.contains(value) else { return .skipped(.implausible) }
                return .notMeasured(metric, at: row.moment, isUserInitiated: isUserInitiated, user: user)
            }
            return .sample(
                Sample(
                    metric: metric, start: row.moment, isUserInitiated: isUserInitiated, user: user,
                    reading: .value(value)))
        }
    }
}

extension Row {
    /// The user slot in this column; `nil` for none, or for an impossible one.
    func user(_ column: Int) -> Int? {
        integer(column).flatMap { Int(exactly: $0) }.flatMap { SampleLimits.users.contains($0) ? $0 : nil }
    }
}

extension ValueFeeds {
    /// Blood pressures: of cuffs, and of wearables that estimate them.
    static func pressures(_ table: Table) -> [any Feed] {
        guard let systolic = table.first("BP_SYSTOLIC", "PRESSURE_HIGH_MM_HG"),
            let diastolic = table.first("BP_DIASTOLIC", "PRESSURE_LOW_MM_HG")
        else { return [] }
        let hasPulse = table.columns.contains("PULSE_RATE")
        let hasUser = table.columns.contains("USER_INDEX")
        let columns = [systolic, diastolic] + (hasPulse ? ["PULSE_RATE"] : []) + (hasUser ? ["USER_INDEX"] : [])
        return [
            RowFeed(
                metric: .bloodPressure, table: table.name, rank: table.isActivity ? .minutes : .records,
                unit: table.unit, columns: columns
            ) { row in
                let user = hasUser ? row.user(columns.count - 1) : nil
                guard let high = row.number(0), let low = row.number(1), !ValidRange.notMeasured.contains(high),
                    !ValidRange.notMeasured.contains(low)
                else { return .notMeasured(.bloodPressure, at: row.moment, user: user) }
                guard ValidRange.bloodPressure.contains(high), ValidRange.bloodPressure.contains(low), high > low else {
                    return .skipped(.implausible)
                }
                let pulse = hasPulse ? row.number(2).flatMap { ValidRange.heartRate.contains($0) ? $0 : nil } : nil
                return .sample(
                    Sample(
                        metric: .bloodPressure, start: row.moment, user: user,
                        reading: .bloodPressure(BloodPressure(systolic: high, diastolic: low, pulse: pulse))))
            }
        ]
    }
}
