import ExportDrivers
import Exports
import Vitals

/// Steps of an interval. A record that grows keeps its start.
enum StepFeed {
    static let table = "steps_record_table"

    static func feed(_ source: RecordSource) throws(ExportError) -> RowFeed? {
        let records = try source.records(table, by: "start_time", with: ["end_time", "count"])
        return records?.feed(.steps, ["r.count", "r.end_time"]) { row, isManual in
            guard let count = row.integer(0), let number = row.integer(1) else { return .left(.unreadable) }
            guard count > 0 else { return .nothing }
            let end = Timestamp(milliseconds: number)
            guard let steps = Int(exactly: count), SampleLimits.steps.contains(steps), end > row.moment,
                end - row.moment <= SampleLimits.duration
            else { return .left(.implausible) }
            return .sample(
                Sample(
                    metric: .steps, start: row.moment, end: end, isUserInitiated: isManual,
                    reading: .steps(Steps(count: steps))))
        }
    }
}
