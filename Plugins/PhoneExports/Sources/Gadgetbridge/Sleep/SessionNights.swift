import Vitals

/// Nights by a table of whole sleeps, with the stages of another table.
struct SessionNights: NightFeed {
    let stages: StageTable
    /// The unit of TIMESTAMP in both tables.
    let unit: TimeUnit
    var table: String { stages.table }
    let rank = Rank.records
    /// The sleeps that begin in a range, ascending; the end is `nil` if it is not known yet.
    let sessions: @Sendable (ExportRange) throws(ExportError) -> [(start: Timestamp, end: Timestamp?)]
    /// Whether rows that cannot be read are counted here, and not where all rows of the table are read.
    var countsRows = true

    /// The most stages of a night.
    private static let maximumRows = SampleLimits.stages

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        var nights: [Sample] = []
        for session in try sessions(reading) {
            guard let end = session.end, end > session.start else {
                reading.skip(.incomplete, in: table, at: session.start)
                continue
            }
            guard end - session.start <= NightLimits.night else {
                reading.skip(.tooLong, in: table, at: session.start)
                continue
            }
            var range = reading.ranging(session.start, stages.length.firstAfter(end))
            if !countsRows { range.counted = range.from..<range.from }
            let stream = try stages.rows(range, unit: unit)
            var rows: [StageRow] = []
            while let row = try stream.next() {
                guard rows.count < Self.maximumRows else {
                    reading.skip(.tooMany, in: table, at: row.moment, limit: Self.maximumRows)
                    continue
                }
                rows.append(row)
            }
            let found = stages.length.stages(of: rows, from: session.start, to: end)
            // A sleep without stages would be one of no minutes.
            guard !found.isEmpty else {
                reading.skip(.incomplete, in: table, at: session.start)
                continue
            }
            nights.append(
                Sample(
                    metric: .sleep, start: session.start, end: end,
                    reading: .sleep(Sleep(stages: found))))
        }
        return nights
    }

    /// The sleeps of a table, from TIMESTAMP to another column.
    static func sessions(
        of table: String, end: String, unit: TimeUnit
    ) -> @Sendable (ExportRange) throws(ExportError) -> [(start: Timestamp, end: Timestamp?)] {
        { reading throws(ExportError) in
            let statement = try reading.database.statement(Table.select([end], from: table))
            statement.bind(reading.device, unit.number(notBefore: reading.from), unit.number(notBefore: reading.to))
            var found: [(start: Timestamp, end: Timestamp?)] = []
            var sleeps = RecordsOfDay(limit: NightLimits.perDay)
            while try statement.step() {
                let row = Row(statement, unit: unit)
                guard sleeps.admits(row.moment) else {
                    reading.skip(.tooMany, in: table, at: row.moment, limit: NightLimits.perDay)
                    continue
                }
                found.append((row.moment, row.integer(0).flatMap { $0 > 0 ? TimeUnit(of: $0).moment($0) : nil }))
            }
            return found
        }
    }

    /// The sleeps between Garmin's events of sleep: EVENT 74, with EVENT_TYPE 0 at the start and 1 at the end. The number
    /// is the one with which Gadgetbridge's `GarminEventSampleProvider` asks for sleep.
    static let garminEvents: @Sendable (ExportRange) throws(ExportError) -> [(start: Timestamp, end: Timestamp?)] = {
        reading throws(ExportError) in
        let statement = try reading.database.statement(
            Table.select(["EVENT_TYPE"], from: "GARMIN_EVENT_SAMPLE", condition: "EVENT = 74"))
        // The end of the last sleep may come after the range.
        let unit = TimeUnit.milliseconds
        statement.bind(
            reading.device, unit.number(notBefore: reading.from),
            unit.number(notBefore: reading.to + NightLimits.night))
        var found: [(start: Timestamp, end: Timestamp?)] = []
        var start: Timestamp?
        var sleeps = RecordsOfDay(limit: NightLimits.perDay)
        while try statement.step() {
            let row = Row(statement, unit: unit)
            switch row.integer(0) {
            case 0: start = row.moment
            case 1:
                if let begun = start, begun < reading.to {
                    if sleeps.admits(begun) {
                        found.append((begun, row.moment))
                    } else {
                        reading.skip(.tooMany, in: "GARMIN_EVENT_SAMPLE", at: begun, limit: NightLimits.perDay)
                    }
                }
                start = nil
            default: break
            }
        }
        return found
    }
}
