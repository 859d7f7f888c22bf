import Vitals

/// Nights by a table of whole sleeps, with the stages of another table, or without where it has none of them.
struct SessionNights: NightFeed {
    let stages: StageTable
    /// The unit of TIMESTAMP in both tables.
    let unit: TimeUnit
    var table: String { stages.table }
    let rank = Rank.records
    /// The sleeps that begin in a range, ascending.
    let sessions: @Sendable (ExportRange) throws(ExportError) -> [WholeSleep]
    /// Whether rows that cannot be read are counted here, and not where all rows of the table are read.
    var countsRows = true

    /// The most stages of a night.
    private static let maximumRows = SampleLimits.stages

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] { try found(reading).map(\.night) }

    /// The nights, each with whether the table of stages has any of it.
    func found(_ reading: ExportRange) throws(ExportError) -> [(night: Sample, hasStages: Bool)] {
        var nights: [(night: Sample, hasStages: Bool)] = []
        for session in try sessions(reading) {
            guard let end = session.knownEnd(in: table, reading) else { continue }
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
            let parts = stages.length.stages(of: rows, from: session.start, to: end)
            let sleep = parts.isEmpty ? session.sleep(until: end) : Sleep(stages: parts)
            let night = Sample(metric: .sleep, start: session.start, end: end, reading: .sleep(sleep))
            nights.append((night, !parts.isEmpty))
        }
        return nights
    }

    /// The sleeps of a table, from TIMESTAMP to another column.
    /// - Parameters:
    ///   - minutes: columns with the minutes of a depth.
    ///   - condition: a further condition on the rows in SQL.
    static func sessions(
        of table: String, end: String, minutes: [(column: String, depth: Sleep.Stage.Depth)] = [], unit: TimeUnit,
        condition: String? = nil
    ) -> @Sendable (ExportRange) throws(ExportError) -> [WholeSleep] {
        { reading throws(ExportError) in
            let statement = try reading.database.statement(
                Table.select([end] + minutes.map(\.column), from: table, condition: condition))
            statement.bind(reading.device, unit.number(notBefore: reading.from), unit.number(notBefore: reading.to))
            var found: [WholeSleep] = []
            var sleeps = RecordsOfDay(limit: NightLimits.perDay)
            let mostMinutes = Int(NightLimits.night.inMilliseconds / 60_000)
            while try statement.step() {
                let row = Row(statement, unit: unit)
                guard sleeps.admits(row.moment) else {
                    reading.skip(.tooMany, in: table, at: row.moment, limit: NightLimits.perDay)
                    continue
                }
                var sleep = WholeSleep(
                    start: row.moment, end: row.integer(0).flatMap { $0 > 0 ? TimeUnit(of: $0).moment($0) : nil })
                for (index, part) in minutes.enumerated() {
                    guard let count = row.integer(index + 1).flatMap({ Int(exactly: $0) }),
                        (1...mostMinutes).contains(count)
                    else { continue }
                    sleep.minutes[part.depth] = count
                }
                found.append(sleep)
            }
            return found
        }
    }

    /// Garmin's table of events.
    static let events = "GARMIN_EVENT_SAMPLE"
    /// What its rows of sleep fulfil, in SQL.
    static let isSleep = "EVENT = 74"

    /// The sleeps between Garmin's events of sleep: EVENT 74, with EVENT_TYPE 0 at the start and 1 at the end. The number
    /// is the one with which Gadgetbridge's `GarminEventSampleProvider` asks for sleep.
    static let garminEvents: @Sendable (ExportRange) throws(ExportError) -> [WholeSleep] = {
        reading throws(ExportError) in
        let statement = try reading.database.statement(
            Table.select(["EVENT_TYPE"], from: events, condition: isSleep))
        // The end of the last sleep may come after the range.
        let unit = TimeUnit.milliseconds
        statement.bind(
            reading.device, unit.number(notBefore: reading.from),
            unit.number(notBefore: reading.to + NightLimits.night))
        var found: [WholeSleep] = []
        var start: Timestamp?
        var sleeps = RecordsOfDay(limit: NightLimits.perDay)
        while try statement.step() {
            let row = Row(statement, unit: unit)
            switch row.integer(0) {
            case 0: start = row.moment
            case 1:
                if let begun = start, begun < reading.to {
                    if sleeps.admits(begun) {
                        found.append(WholeSleep(start: begun, end: row.moment))
                    } else {
                        reading.skip(.tooMany, in: events, at: begun, limit: NightLimits.perDay)
                    }
                }
                start = nil
            default: break
            }
        }
        return found
    }
}
