import Vitals

/// Nights by a table of intervals. A deep one may lie within a light one.
struct OverlayNights: NightFeed {
    let table: String
    let rank = Rank.stages
    /// RAW_KIND of sleeps and naps; others are walks, runs, or a wearable that is not worn.
    private let depths: [Int64: Sleep.Stage.Depth]
    /// Whether a stage was when its interval says: of H-Plus the app knows only how long each depth was, and lines them up.
    private let isTimed: Bool

    private static let kinds: [(table: String, depths: [Int64: Sleep.Stage.Depth], isTimed: Bool)] = [
        ("PEBBLE_HEALTH_ACTIVITY_OVERLAY", [1: .light, 2: .deep, 3: .light, 4: .deep], true),
        ("HPLUS_HEALTH_ACTIVITY_OVERLAY", [2: .light, 4: .deep], false),
        ("WATCH_XPLUS_HEALTH_ACTIVITY_OVERLAY", [2: .light, 4: .deep], true),
    ]
    private static let columns = ["TIMESTAMP_FROM", "TIMESTAMP_TO", "RAW_KIND", "DEVICE_ID"]

    /// Those of the tables that an export has.
    static func all(in database: ExportDatabase) -> [OverlayNights] {
        kinds.filter { Set(database.tables[$0.table] ?? []).isSuperset(of: columns) }.map {
            OverlayNights(table: $0.table, depths: $0.depths, isTimed: $0.isTimed)
        }
    }

    /// What rows of sleep fulfil, in SQL.
    private var isSleep: String {
        "RAW_KIND IN (\(depths.keys.sorted().map { "\($0)" }.joined(separator: ", ")))"
    }

    /// Whether there is a sleep of this wearable.
    func isUsed(by device: Int64, in database: ExportDatabase) throws(ExportError) -> Bool {
        let statement = try database.statement(
            "SELECT 1 FROM \(table) WHERE DEVICE_ID = ?1 AND \(isSleep) LIMIT 1")
        statement.bind(device)
        return try statement.step()
    }

    /// How many sleeps of this wearable have no usable time.
    func withoutTime(of device: Int64, in database: ExportDatabase) throws(ExportError) -> Int {
        try TableTimes.withoutTime(
            table, device, in: database, column: "TIMESTAMP_FROM", unit: .seconds, condition: isSleep)
    }

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        let unit = TimeUnit.seconds
        let statement = try reading.database.statement(
            """
            SELECT TIMESTAMP_FROM, TIMESTAMP_TO, RAW_KIND FROM \(table) WHERE DEVICE_ID = ?1 AND TIMESTAMP_FROM >= ?2
            AND TIMESTAMP_FROM < ?3 AND \(isSleep) ORDER BY TIMESTAMP_FROM, TIMESTAMP_TO DESC
            """)
        // A night is known as such only from what is before it, and is read to its end.
        statement.bind(
            reading.device, unit.number(notBefore: reading.from - NightLimits.night),
            unit.number(notBefore: reading.to + NightLimits.night))
        var nights: [Sample] = []
        var night: [Sleep.Stage] = []
        var end = Timestamp(milliseconds: .min)
        func completeNight() {
            defer { night = [] }
            guard let start = night.first?.start, start >= reading.from, start < reading.to else { return }
            guard end - start <= NightLimits.night, night.count < SampleLimits.stages / 2 else {
                return reading.skip(.tooLong, in: table, at: start)
            }
            nights.append(Sample(metric: .sleep, start: start, end: end, reading: .sleep(sleep(of: night))))
        }
        while try statement.step() {
            let row = Row(statement, unit: unit)
            guard let number = row.integer(0), let depth = row.integer(1).flatMap({ depths[$0] }),
                case let last = unit.moment(number), last > row.moment
            else {
                reading.skip(.incomplete, in: table, at: row.moment)
                continue
            }
            if !night.isEmpty, row.moment - end > NightLimits.pause { completeNight() }
            end = night.isEmpty ? last : max(end, last)
            // What is too much for a night only counts.
            if night.count < SampleLimits.stages / 2 { night.append(Sleep.Stage(depth, from: row.moment, to: last)) }
        }
        completeNight()
        return nights
    }

    private func sleep(of intervals: [Sleep.Stage]) -> Sleep {
        let sleep = Sleep(stages: Self.stages(of: intervals))
        guard !isTimed else { return sleep }
        let minutes = Set(sleep.stages.map(\.depth)).map { ($0, sleep.minutes($0)) }
        return Sleep(stages: [], untimed: Dictionary(uniqueKeysWithValues: minutes))
    }

    /// The stages of intervals that may overlap: deep where one of them is.
    private static func stages(of intervals: [Sleep.Stage]) -> [Sleep.Stage] {
        let edges = Set(intervals.flatMap { [$0.start, $0.end] }).sorted()
        var stages: [Sleep.Stage] = []
        for (from, to) in zip(edges, edges.dropFirst()) {
            let depths = intervals.lazy.filter { $0.start <= from && $0.end >= to }.map(\.depth)
            guard let depth = depths.contains(.deep) ? .deep : depths.first else { continue }
            if let last = stages.last, last.depth == depth, last.end == from {
                stages[stages.count - 1].end = to
            } else {
                stages.append(Sleep.Stage(depth, from: from, to: to))
            }
        }
        return stages
    }
}
