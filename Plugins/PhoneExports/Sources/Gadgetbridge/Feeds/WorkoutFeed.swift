import JSON
import Vitals

/// Workouts: BASE_ACTIVITY_SUMMARY, which all wearables share.
struct WorkoutFeed: Feed {
    static let table = "BASE_ACTIVITY_SUMMARY"
    let metric = Metric.sport
    var tables: [String] { [Self.table] }
    let hasSummary: Bool

    /// The most bytes of a summary that are read: a hundred times the usual.
    static let maximumSummary = 256 * 1024

    /// `nil` if the export has no such table.
    init?(_ columns: Set<String>?) {
        guard let columns, columns.isSuperset(of: ["START_TIME", "END_TIME", "ACTIVITY_KIND", "DEVICE_ID"]) else {
            return nil
        }
        hasSummary = columns.isSuperset(of: ["_id", "SUMMARY_DATA"])
    }

    func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream {
        let statement = try reading.database.statement(
            """
            SELECT START_TIME, END_TIME, ACTIVITY_KIND, \(hasSummary ? "_id" : "NULL")
            FROM \(Self.table) WHERE DEVICE_ID = ?1 AND START_TIME >= ?2 AND START_TIME < ?3 ORDER BY START_TIME
            """)
        statement.bind(reading.device, reading.from.milliseconds, reading.to.milliseconds)
        // In a separate statement: one that is too long to be read does not end the reading of the workouts.
        let summaries =
            hasSummary ? try reading.database.statement("SELECT SUMMARY_DATA FROM \(Self.table) WHERE _id = ?1") : nil
        return WorkoutStream(statement, summaries, reading.skippedRows)
    }
}

private final class WorkoutStream: SampleStream {
    private let statement: ExportStatement
    private let summaries: ExportStatement?
    private let skippedRows: SkippedRows

    init(_ statement: ExportStatement, _ summaries: ExportStatement?, _ skippedRows: SkippedRows) {
        self.statement = statement
        self.summaries = summaries
        self.skippedRows = skippedRows
    }

    func next() throws(ExportError) -> Candidate? {
        while try statement.step() {
            let row = Row(statement, unit: .milliseconds)
            guard let number = row.integer(0), let kind = row.integer(1) else {
                skippedRows.add(.unreadable, in: WorkoutFeed.table)
                continue
            }
            let end = Timestamp(milliseconds: number)
            guard end > row.moment, end - row.moment <= SampleLimits.duration else {
                skippedRows.add(.incomplete, in: WorkoutFeed.table)
                continue
            }
            let summary = if let number = row.integer(2) { try summary(of: number) } else { nil as WorkoutSummary? }
            let sample = Sample(
                metric: .sport, start: row.moment, end: end, reading: .sport(Sport(kind: kind, summary)))
            return Candidate(sample: sample, rank: .records)
        }
        return nil
    }

    /// What is said of a workout beside its times. A text that is too long is counted; its workout is read all the same.
    private func summary(of number: Int64) throws(ExportError) -> WorkoutSummary? {
        guard let summaries else { return nil }
        summaries.bind(number)
        defer { summaries.reset() }
        do throws(ExportError) {
            guard try summaries.step(), let bytes = summaries.bytes(0) else { return nil }
            if bytes.count <= WorkoutFeed.maximumSummary { return WorkoutSummary(bytes) }
        } catch {
            guard error.code == .tooLarge else { throw error }
        }
        skippedRows.add(.tooLong, in: "\(WorkoutFeed.table).SUMMARY_DATA")
        return nil
    }
}

extension Sport {
    /// A workout of one of Gadgetbridge's kinds, with what its summary says.
    fileprivate init(kind: Int64, _ summary: WorkoutSummary?) {
        func rate(_ key: String) -> Double? {
            summary?.number(key).flatMap { ValidRange.heartRate.contains($0) ? $0 : nil }
        }
        func amount(_ keys: String...) -> Double? {
            keys.lazy.compactMap { summary?.number($0) }.first { $0 > 0 }
        }
        self.init(
            activity: ActivityKind.name(of: kind),
            distance: amount("distanceMeters").flatMap { SampleLimits.distance.contains($0) ? $0 : nil },
            energy: amount("active_calories", "caloriesBurnt").flatMap { SampleLimits.energy.contains($0) ? $0 : nil },
            steps: amount("steps").flatMap { Int(exactly: $0.rounded()) }
                .flatMap { SampleLimits.steps.contains($0) ? $0 : nil },
            minimumHeartRate: rate("minHR"), averageHeartRate: rate("averageHR"), maximumHeartRate: rate("maxHR"))
    }
}
