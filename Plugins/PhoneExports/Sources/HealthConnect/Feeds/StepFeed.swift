import Vitals

/// Steps of an interval. A record that grows keeps its start.
enum StepFeed {
    static let table = "steps_record_table"

    /// - Parameter counting: the number of the only device whose steps count; `nil` for all.
    static func feed(_ source: RecordSource, counting: Int64?) throws(ExportError) -> RowFeed? {
        let records = try source.records(table, by: "start_time", with: ["end_time", "count"])
        let device = counting == nil ? "NULL" : "r.device_info_id"
        return records?.feed(.steps, ["r.count", "r.end_time", device]) { row, isManual in
            guard counting == nil || row.integer(2) == counting else { return .skipped(.otherDevice) }
            guard let count = row.integer(0) else { return .skipped(row.absence(0)) }
            guard let number = row.integer(1) else { return .skipped(.unreadable) }
            guard count != 0 else { return .nothing }
            let end = Timestamp(milliseconds: number)
            guard let steps = Int(exactly: count), count > 0, SampleLimits.steps.contains(steps), end > row.moment,
                end - row.moment <= SampleLimits.duration
            else { return .skipped(.implausible) }
            return .sample(
                Sample(
                    metric: .steps, start: row.moment, end: end, isUserInitiated: isManual,
                    reading: .steps(Steps(count: steps))))
        }
    }
}
