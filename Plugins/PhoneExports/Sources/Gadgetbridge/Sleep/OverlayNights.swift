import Vitals

/// Nights of Pebble watches: intervals of PEBBLE_HEALTH_ACTIVITY_OVERLAY, of which a deep one lies within a light one.
struct OverlayNights: NightFeed {
    static let table = "PEBBLE_HEALTH_ACTIVITY_OVERLAY"
    var table: String { Self.table }
    let rank = Rank.stages

    /// RAW_KIND of sleeps and naps; others are walks and runs.
    private static let depths: [Int64: Sleep.Stage.Depth] = [1: .light, 2: .deep, 3: .light, 4: .deep]

    /// `nil` if the export has no such table.
    init?(_ columns: [String]?) {
        guard let columns,
            Set(columns).isSuperset(of: ["TIMESTAMP_FROM", "TIMESTAMP_TO", "RAW_KIND", "DEVICE_ID"])
        else { return nil }
    }

    /// Whether there is a sleep of this wearable.
    func isUsed(by device: Int64, in database: ExportDatabase) throws(ExportError) -> Bool {
        let statement = try database.statement(
            "SELECT 1 FROM \(table) WHERE DEVICE_ID = ?1 AND RAW_KIND BETWEEN 1 AND 4 LIMIT 1")
        statement.bind(device)
        return try statement.step()
    }

    /// How many sleeps of this wearable have no usable time.
    func withoutTime(of device: Int64, in database: ExportDatabase) throws(ExportError) -> Int {
        try TableTimes.withoutTime(
            table, device, in: database, column: "TIMESTAMP_FROM", unit: .seconds,
            condition: "RAW_KIND BETWEEN 1 AND 4")
    }

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        let unit = TimeUnit.seconds
        let statement = try reading.database.statement(
            """
            SELECT TIMESTAMP_FROM, TIMESTAMP_TO, RAW_KIND FROM \(table) WHERE DEVICE_ID = ?1 AND TIMESTAMP_FROM >= ?2
            AND TIMESTAMP_FROM < ?3 AND RAW_KIND BETWEEN 1 AND 4 ORDER BY TIMESTAMP_FROM, TIMESTAMP_TO DESC
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
            nights.append(
                Sample(metric: .sleep, start: start, end: end, reading: .sleep(Sleep(stages: Self.stages(of: night)))))
        }
        while try statement.step() {
            let row = Row(statement, unit: unit)
            guard let number = row.integer(0), let depth = row.integer(1).flatMap({ Self.depths[$0] }),
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
