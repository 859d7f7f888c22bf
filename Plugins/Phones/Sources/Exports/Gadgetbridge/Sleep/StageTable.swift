import Vitals

/// The tables of sleep of a family of wearables: a row here is all that the family needs.
struct StageTable: Sendable {
    var table: String
    /// The meaning of STAGE.
    var codes: [Int64: Sleep.Stage.Depth]
    var length: StageLength
    /// The table of whole sleeps; without it a pause ends a night.
    var sessions: Sessions?
    /// The pause that ends a night without a table of whole sleeps.
    var pause: Duration = NightLimits.stage
    /// The table in which a wearable of this family has rows, where others use the same table of stages with codes of their own.
    var family: String?

    /// A table of whole sleeps, from TIMESTAMP to another column.
    struct Sessions: Sendable {
        var table: String
        var end = "WAKEUP_TIME"
        /// Columns with the minutes of a depth.
        var minutes: [(column: String, depth: Sleep.Stage.Depth)] = []

        /// Its sleeps.
        /// - Parameter columns: those that the export has.
        func sleeps(
            of columns: some Sequence<String>, unit: TimeUnit
        ) -> @Sendable (ExportRange) throws(ExportError) -> [WholeSleep] {
            let known = minutes.filter { columns.contains($0.column) }
            return SessionNights.sessions(of: table, end: end, minutes: known, unit: unit)
        }
    }

    static let all: [StageTable] = [
        StageTable(
            table: "XIAOMI_SLEEP_STAGE_SAMPLE", codes: [2: .deep, 3: .light, 4: .rem, 5: .awake], length: .untilNext,
            sessions: Sessions(
                table: "XIAOMI_SLEEP_TIME_SAMPLE",
                minutes: [
                    ("DEEP_SLEEP_DURATION", .deep), ("LIGHT_SLEEP_DURATION", .light), ("REM_SLEEP_DURATION", .rem),
                    ("AWAKE_DURATION", .awake),
                ])),
        StageTable(
            table: "COLMI_SLEEP_STAGE_SAMPLE", codes: [2: .light, 3: .deep, 4: .rem, 5: .awake],
            length: .lasting(.minutes(1)), sessions: Sessions(table: "COLMI_SLEEP_SESSION_SAMPLE")),
        StageTable(
            table: "CMF_SLEEP_STAGE_SAMPLE", codes: [1: .deep, 2: .light, 3: .rem], length: .lasting(.seconds(1)),
            sessions: Sessions(table: "CMF_SLEEP_SESSION_SAMPLE")),
        StageTable(
            table: "GARMIN_SLEEP_STAGE_SAMPLE", codes: [1: .awake, 2: .light, 3: .deep, 4: .rem],
            length: .sincePrevious),
        StageTable(
            table: "MOYOUNG_SLEEP_STAGE_SAMPLE", codes: [0: .awake, 1: .light, 2: .deep, 3: .rem], length: .untilNext),
        // 5 is a nap.
        StageTable(
            table: "HUAWEI_SLEEP_STAGE_SAMPLE", codes: [1: .light, 2: .rem, 3: .deep, 4: .awake, 5: .asleep],
            length: .fixed(.minutes(1)), pause: NightLimits.pause),
        // The codes are those of GloryFit, the only family whose use of this table is known (Gadgetbridge's
        // `GloryFitActivitySampleProvider`, 0.92).
        StageTable(
            table: "GENERIC_SLEEP_STAGE_SAMPLE", codes: [1: .deep, 2: .light, 3: .awake, 4: .rem],
            length: .lasting(.minutes(1)), pause: NightLimits.pause, family: "GLORY_FIT_STEPS_SAMPLE"),
    ]

    /// Rows in a range of TIMESTAMP, ascending. Unknown codes are counted.
    func rows(_ reading: ExportRange, unit: TimeUnit) throws(ExportError) -> StageRows {
        var hasDuration = false
        if case .lasting = length { hasDuration = true }
        let statement = try reading.database.statement(
            Table.select(["STAGE"] + (hasDuration ? ["DURATION"] : []), from: table))
        statement.bind(reading.device, unit.number(notBefore: reading.from), unit.number(notBefore: reading.to))
        return StageRows(statement, self, unit: unit, reading)
    }
}

/// The rows of a table of stages, one after the other.
final class StageRows {
    private let statement: ExportStatement
    private let table: StageTable
    private let unit: TimeUnit
    private let reading: ExportRange

    /// The longest stage that a row may claim.
    private static let longest: Int64 = 86_400

    init(_ statement: ExportStatement, _ table: StageTable, unit: TimeUnit, _ reading: ExportRange) {
        self.statement = statement
        self.table = table
        self.unit = unit
        self.reading = reading
    }

    func next() throws(ExportError) -> StageRow? {
        guard try statement.step() else { return nil }
        let row = Row(statement, unit: unit)
        let depth = row.integer(0).flatMap { table.codes[$0] }
        if depth == nil { reading.skip(.unknownCode, in: table.table, at: row.moment) }
        guard case .lasting(let one) = table.length else { return StageRow(moment: row.moment, depth: depth) }
        guard let count = row.integer(1), (0...Self.longest).contains(count) else {
            reading.skip(.unreadable, in: table.table, at: row.moment)
            return StageRow(moment: row.moment)
        }
        return StageRow(moment: row.moment, depth: depth, length: one * Int(count))
    }
}

/// Nights of a table of stages that another table gives bounds to, and, beside them, those of rows that it gives none. Bounds without a stage are
/// a sleep only where no other stages are, and end none.
struct StageNights: NightFeed {
    let sessions: SessionNights
    let chains: ChainNights
    var table: String { sessions.table }
    let rank = Rank.records

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        // A night whose rows are read for a chain may have begun a day before them.
        var wide = reading.ranging(
            reading.from - ChainNights.margin - NightLimits.night, reading.to + ChainNights.margin)
        wide.counted = reading.counted ?? reading.from..<reading.to
        let bounded = try sessions.found(wide)
        var narrow = reading
        narrow.counted = wide.counted
        let staged = bounded.filter(\.hasStages).map { $0.night.start..<$0.night.end }
        let others = try chains.nights(narrow, beside: staged)
        let own = bounded.map(\.night).filter { $0.start >= reading.from && $0.start < reading.to }
        return (own + others).sorted { $0.start < $1.start }
    }
}
