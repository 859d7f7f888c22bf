import Vitals

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
                guard let high = row.number(0), let low = row.number(1) else { return .skipped(.notMeasured) }
                guard !ValidRange.notMeasured.contains(high), !ValidRange.notMeasured.contains(low) else {
                    return .skipped(.notMeasured)
                }
                guard ValidRange.bloodPressure.contains(high), ValidRange.bloodPressure.contains(low), high > low else {
                    return .skipped(.implausible)
                }
                let pulse = hasPulse ? row.number(2).flatMap { ValidRange.heartRate.contains($0) ? $0 : nil } : nil
                return .sample(
                    Sample(
                        metric: .bloodPressure, start: row.moment, user: hasUser ? row.user(columns.count - 1) : nil,
                        reading: .bloodPressure(BloodPressure(systolic: high, diastolic: low, pulse: pulse))))
            }
        ]
    }
}
