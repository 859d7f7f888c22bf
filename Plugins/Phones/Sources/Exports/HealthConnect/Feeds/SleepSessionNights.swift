import Vitals

/// Sleeps with their stages. Sessions that touch are one sleep, since some apps write each stage of a night as a session.
struct SleepSessionNights: NightFeed {
    static let table = "sleep_session_record_table"
    private static let stages = "sleep_stages_table"
    /// The public codes of stages (`SleepSessionRecord.StageType`). 2 is asleep at an unknown depth, 3 out of bed, and 7 awake in bed. 0 is
    /// unknown.
    private static let codes: [Int64: Sleep.Stage.Depth] = [
        1: .awake, 2: .asleep, 3: .awake, 4: .light, 5: .deep, 6: .rem, 7: .awake,
    ]

    /// Sessions that may be parts of one sleep. An app may write a night once more as one session without stages, which lies between
    /// those with them.
    private struct Chain: Hashable {
        var device: Int64?
        var hasStages: Bool
        var place: (Int64, Int) { (device ?? -1, hasStages ? 1 : 0) }
    }

    var table: String { Self.table }
    let rank = Rank.records
    private let sessions: String

    /// `nil` if there are none.
    init?(_ source: RecordSource) throws(ExportError) {
        guard let records = try source.records(Self.table, by: "start_time", with: ["end_time"]),
            let columns = source.database.tables[Self.stages],
            Set(columns).isSuperset(of: ["parent_key", "stage_start_time", "stage_end_time", "stage_type"])
        else { return nil }
        try source.database.order(
            Self.stages, rows: "SELECT parent_key, stage_start_time, rowid FROM main.\(Self.stages)")
        sessions = records.select(
            ["r.end_time", "r.row_id", records.methodColumn, records.deviceColumn, records.changeColumn])
    }

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        let statement = try reading.database.statement(sessions)
        statement.bind(reading.device, reading.from.milliseconds, reading.to.milliseconds)
        var nights: [Sample] = []
        var sleeps = RecordsOfDay(limit: NightLimits.perDay)
        // Of each device, since the sessions of two may lie between each other.
        var open: [Chain: Sample] = [:]
        while try statement.step() {
            let row = Row(statement, unit: .milliseconds)
            guard let last = row.integer(0), let record = row.integer(1), last > row.moment.milliseconds else {
                reading.skip(.unreadable, in: table, at: row.moment)
                continue
            }
            let end = Timestamp(milliseconds: last)
            guard end - row.moment <= NightLimits.night else {
                reading.skip(.tooLong, in: table, at: row.moment)
                continue
            }
            let rows = try stages(of: record, within: row.moment, reading)
            let found = StageLength.lasting(.milliseconds(1)).stages(of: rows, from: row.moment, to: end)
                .completed(from: row.moment, to: end)
            let session = Sample(
                metric: .sleep, start: row.moment, end: end, isUserInitiated: Records.isManual(row.integer(2)),
                changedAt: Records.change(row.integer(4)),
                reading: .sleep(Sleep(stages: found)))
            let chain = Chain(device: row.integer(3), hasStages: !rows.isEmpty)
            if var joined = open[chain]?.joined(with: session) {
                // Of one that lost a session, none of the others says so. An export has all of them, so that the last one counts.
                joined.changedAt = nil
                open[chain] = joined
            } else {
                guard sleeps.admits(row.moment) else {
                    reading.skip(.tooMany, in: table, at: row.moment, limit: NightLimits.perDay)
                    continue
                }
                if let last = open.updateValue(session, forKey: chain) { nights.append(last) }
            }
        }
        // In an order that does not change: by device, and last those with stages.
        nights += open.sorted { $0.key.place < $1.key.place }.map { $0.value }
        return nights.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    /// The stages of a session, ascending. Unknown codes are counted with the session's start.
    private func stages(
        of record: Int64, within start: Timestamp, _ reading: ExportRange
    ) throws(ExportError) -> [StageRow] {
        let statement = try reading.database.statement(
            """
            SELECT o.moment, s.stage_end_time, s.stage_type FROM temp.\(Self.stages) AS o
            CROSS JOIN main.\(Self.stages) AS s ON s.rowid = o.row WHERE o.owner = ?1 ORDER BY o.moment, o.row
            """)
        statement.bind(record)
        var rows: [StageRow] = []
        while try statement.step() {
            guard rows.count < SampleLimits.stages else {
                reading.skip(.tooMany, in: Self.stages, at: start, limit: SampleLimits.stages)
                continue
            }
            let row = Row(statement, unit: .milliseconds)
            guard let end = row.integer(0), end > row.moment.milliseconds else {
                reading.skip(.unreadable, in: Self.stages, at: start)
                continue
            }
            let depth = row.integer(1).flatMap { Self.codes[$0] }
            if depth == nil { reading.skip(.unknownCode, in: Self.stages, at: start) }
            rows.append(
                StageRow(
                    moment: row.moment, depth: depth, length: Timestamp(milliseconds: end) - row.moment))
        }
        return rows
    }
}
