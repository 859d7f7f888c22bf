import Vitals

/// Blood pressures, in mmHg. The pulse is a separate heart rate in Health Connect.
enum PressureFeed {
    static let table = "blood_pressure_record_table"

    static func feed(_ source: RecordSource) throws(ExportError) -> RowFeed? {
        let records = try source.records(table, with: ["systolic", "diastolic"])
        return records?.feed(.bloodPressure, ["r.systolic", "r.diastolic"]) { row, isManual in
            if row.isNull(0) || row.number(0) != nil && row.isNull(1) {
                return .notMeasured(.bloodPressure, at: row.moment, isUserInitiated: isManual)
            }
            guard let high = row.number(0), let low = row.number(1) else { return .skipped(.unreadable) }
            guard ValidRange.bloodPressure.contains(high), ValidRange.bloodPressure.contains(low), high > low else {
                return .skipped(.implausible)
            }
            return .sample(
                Sample(
                    metric: .bloodPressure, start: row.moment, isUserInitiated: isManual,
                    reading: .bloodPressure(BloodPressure(systolic: high, diastolic: low))))
        }
    }
}

/// Records with many values, each at its own moment.
enum SeriesFeeds {
    /// The table of the records of heart rates.
    static let heartRate = "heart_rate_record_table"
    /// The table of the records of skin temperatures.
    static let skinTemperature = "skin_temperature_record_table"

    /// Heart rates; `nil` if there are none.
    static func heartRates(_ source: RecordSource) throws(ExportError) -> RowFeed? {
        try heartRateRecords(source)?.feed(.heartRate, ["s.beats_per_minute"]) { row, isManual in
            let isEmpty = row.number(0).map(ValidRange.notMeasured.contains) ?? row.isNull(0)
            if isEmpty { return .notMeasured(.heartRate, at: row.moment, isUserInitiated: isManual) }
            guard let value = row.number(0) else { return .skipped(.unreadable) }
            guard ValidRange.heartRate.contains(value) else { return .skipped(.implausible) }
            return .sample(
                Sample(
                    metric: .heartRate, start: row.moment, isUserInitiated: isManual, reading: .value(value)))
        }
    }

    /// The values of heart rates, as `s.beats_per_minute`.
    static func heartRateRecords(_ source: RecordSource) throws(ExportError) -> Records? {
        try source.series(("heart_rate_record_series_table", ["beats_per_minute"]), of: (heartRate, []))
    }

    /// Temperatures of the skin; `nil` if there are none. A record has a baseline, and the values differ from it. Without
    /// a baseline the temperature is unknown.
    static func skinTemperatures(_ source: RecordSource) throws(ExportError) -> RowFeed? {
        let series = try source.series(
            ("skin_temperature_delta_table", ["delta"]), of: (skinTemperature, ["baseline"]))
        return series?.feed(.skinTemperature, ["s.delta", "r.baseline"]) { row, isManual in
            guard let difference = row.number(0) else { return .skipped(row.absence(0)) }
            guard let baseline = row.number(1), ValidRange.skinTemperature.contains(baseline) else {
                return .skipped(.incomplete)
            }
            let value = (baseline + difference).hundredths
            guard ValidRange.skinTemperature.contains(value) else { return .skipped(.implausible) }
            return .sample(
                Sample(
                    metric: .skinTemperature, start: row.moment, isUserInitiated: isManual, reading: .value(value)))
        }
    }
}
