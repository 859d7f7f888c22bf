import JSON
import Vitals

/// Workouts: BASE_ACTIVITY_SUMMARY, which all wearables share; or what a wearable worked out by them.
struct WorkoutFeed: Feed {
    static let table = "BASE_ACTIVITY_SUMMARY"
    /// `sport`, or `vo2_max` for the highest oxygen uptake that summaries have, at the end of each workout.
    let metric: Metric
    var tables: [String] { [Self.table] }
    let hasSummary: Bool

    /// The most bytes of a summary that are read: a hundred times the usual.
    static let maximumSummary = 256 * 1024

    /// `nil` if the export has no such table.
    init?(_ columns: Set<String>?, _ metric: Metric = .sport) {
        self.metric = metric
        guard let columns, columns.isSuperset(of: ["START_TIME", "END_TIME", "ACTIVITY_KIND", "DEVICE_ID"]) else {
            return nil
        }
        hasSummary = columns.isSuperset(of: ["_id", "SUMMARY_DATA"])
    }

    /// Whether a summary of this wearable has an uptake of oxygen.
    func hasUptake(of device: Int64, in database: ExportDatabase) throws(ExportError) -> Bool {
        guard hasSummary else { return false }
        let unit = TimeUnit.milliseconds
        let (from, to) = (unit.moment(unit.usable.lowerBound), unit.moment(unit.usable.upperBound))
        return try stream(database, device, from, to, SkippedRows()).next() != nil
    }

    func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream {
        // What is wrong with a workout is counted once, with the workouts.
        let skipped = metric == .sport ? reading.skippedRows : SkippedRows()
        return try stream(reading.database, reading.device, reading.from, reading.to, skipped)
    }

    private func stream(
        _ database: ExportDatabase, _ device: Int64, _ from: Timestamp, _ to: Timestamp, _ skippedRows: SkippedRows
    ) throws(ExportError) -> any SampleStream {
        let time = metric == .sport ? "START_TIME" : "END_TIME"
        let statement = try database.statement(
            """
            SELECT \(time), END_TIME, ACTIVITY_KIND, \(hasSummary ? "_id" : "NULL")
            FROM \(Self.table) WHERE DEVICE_ID = ?1 AND \(time) >= ?2 AND \(time) < ?3 ORDER BY \(time)
            """)
        statement.bind(device, from.milliseconds, to.milliseconds)
        // In a separate statement: one that is too long to be read does not end the reading of the workouts.
        let summaries =
            hasSummary ? try database.statement("SELECT SUMMARY_DATA FROM \(Self.table) WHERE _id = ?1") : nil
        return WorkoutStream(statement, summaries, skippedRows, metric)
    }
}

private final class WorkoutStream: SampleStream {
    private let statement: ExportStatement
    private let summaries: ExportStatement?
    private let skippedRows: SkippedRows
    private let metric: Metric

    init(
        _ statement: ExportStatement, _ summaries: ExportStatement?, _ skippedRows: SkippedRows, _ metric: Metric
    ) {
        self.statement = statement
        self.summaries = summaries
        self.skippedRows = skippedRows
        self.metric = metric
    }

    func next() throws(ExportError) -> Candidate? {
        while try statement.step() {
            let row = Row(statement, unit: .milliseconds)
            guard let number = row.integer(0), let kind = row.integer(1) else {
                skippedRows.add(.unreadable, in: WorkoutFeed.table)
                continue
            }
            if metric == .vo2Max {
                guard let id = row.integer(2), let summary = try self.summary(of: id),
                    let uptake = summary.number("maximumOxygenUptake"), ValueFeeds.oxygenUptake.contains(uptake)
                else { continue }
                // A record of the same minute counts before it.
                return Candidate(
                    sample: Sample(metric: .vo2Max, start: row.moment, reading: .value(uptake)), rank: .minutes)
            }
            let end = Timestamp(milliseconds: number)
            guard end > row.moment, end - row.moment <= SampleLimits.duration else {
                skippedRows.add(.incomplete, in: WorkoutFeed.table)
                continue
            }
            let summary = if let number = row.integer(2) { try summary(of: number) } else { nil as WorkoutSummary? }
            let sample = Sample(
                metric: .sport, start: row.moment, end: end,
                reading: .sport(Sport(kind: kind, summary, lasting: end - row.moment)))
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
    fileprivate init(kind: Int64, _ summary: WorkoutSummary?, lasting length: Duration) {
        func rate(_ key: String) -> Double? {
            summary?.number(key).flatMap { ValidRange.heartRate.contains($0) ? $0 : nil }
        }
        func amount(_ keys: String...) -> Double? {
            keys.lazy.compactMap { summary?.number($0) }.first { $0 > 0 }
        }
        self.init(
            activity: ActivityKind.name(of: kind),
            distance: ValidRange.possible(
                amount("distanceMeters"), SampleLimits.distance, at: SampleLimits.speed, in: length),
            energy: ValidRange.possible(energy: amount("active_calories", "caloriesBurnt"), in: length),
            steps: amount("steps").flatMap { Int(exactly: $0.rounded()) }
                .flatMap { ValidRange.isPossible(steps: $0, in: length) ? $0 : nil },
            minimumHeartRate: rate("minHR"), averageHeartRate: rate("averageHR"), maximumHeartRate: rate("maxHR"))
    }
}

/// The numbers of SUMMARY_DATA: `{"averageHR": {"value": 131, "unit": "bpm"}, …}`. A value may be a text.
struct WorkoutSummary {
    private let members: [String: Double]

    /// `nil` if it is no such text.
    init?(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes), case .object(let found) = value else { return nil }
        var members: [String: Double] = [:]
        for member in found {
            guard case .object(let parts) = member.value, let value = parts.first(where: { $0.key == "value" })?.value
            else { continue }
            switch value {
            case .number(let number): members[member.key] = number
            case .string(let text): members[member.key] = Double(text)
            default: break
            }
        }
        self.members = members
    }

    /// A finite number; `nil` if there is none.
    func number(_ key: String) -> Double? { members[key].flatMap { $0.isFinite ? $0 : nil } }
}

/// Gadgetbridge's codes of activities, as far as they are documented; newer ones stand for about 250 sports.
enum ActivityKind {
    private static let names: [Int64: String] = [
        0x10: "running", 0x20: "walking", 0x40: "swimming", 0x80: "cycling", 0x100: "treadmill", 0x200: "exercise",
        0x400: "open_water_swimming", 0x800: "indoor_cycling", 0x1000: "elliptical", 0x2000: "jump_rope",
        0x4000: "yoga", 0x8000: "soccer", 0x1_0000: "rowing_machine", 0x20_0000: "strength", 0x40_0000: "hiking",
        0x80_0000: "climbing",
    ]

    /// The name of a workout. One whose code is unknown is `kind_` with that code, so that none is lost or guessed.
    static func name(of code: Int64) -> String {
        names[code] ?? (code <= 1 ? "unknown" : "kind_\(String(code, radix: 16))")
    }
}
