import Vitals

/// Blood pressures, in mmHg. The pulse is a separate heart rate in Health Connect.
enum PressureFeed {
    static let table = "blood_pressure_record_table"

    static func feed(_ source: RecordSource) throws(ExportError) -> RowFeed? {
        let records = try source.records(table, with: ["systolic", "diastolic"])
        return records?.feed(.bloodPressure, ["r.systolic", "r.diastolic"]) { row, isManual in
            guard let high = row.number(0) else { return .skipped(row.absence(0)) }
            guard let low = row.number(1) else { return .skipped(row.absence(1)) }
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
