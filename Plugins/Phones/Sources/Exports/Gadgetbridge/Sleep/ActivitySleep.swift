import Vitals

/// Sleep as the app guesses it from activity rows: the kind of each minute.
struct ActivitySleep: Sendable {
    /// What a row says of sleep.
    enum Kind: Sendable, Hashable {
        case asleep(Sleep.Stage.Depth)
        case other
        /// The same as the row before.
        case unchanged
    }

    /// The columns that `kind` sees, by their places.
    var columns = ["RAW_KIND"]
    var length = StageLength.fixedBefore(.minutes(1))
    /// Seconds that a row lasts, where `length` is `lasting`.
    var seconds: @Sendable (Row) -> Int64? = { $0.integer(1) }
    let kind: @Sendable (Row) -> Kind
    /// What rows must fulfil besides, in SQL.
    private var condition: String?

    /// Huawei keeps the watch's own sleep (TruSleep, SOURCE 10) beside that of the activity (13), which counts where there is none.
    private static let withoutDoubles = """
        (SOURCE <> 13 OR NOT EXISTS (SELECT 1 FROM HUAWEI_ACTIVITY_SAMPLE AS own
        WHERE own.DEVICE_ID = HUAWEI_ACTIVITY_SAMPLE.DEVICE_ID AND own.SOURCE = 10
        AND own.TIMESTAMP < HUAWEI_ACTIVITY_SAMPLE.OTHER_TIMESTAMP
        AND own.TIMESTAMP > HUAWEI_ACTIVITY_SAMPLE.TIMESTAMP - 86400
        AND own.OTHER_TIMESTAMP > HUAWEI_ACTIVITY_SAMPLE.TIMESTAMP))
        """

    /// Families that keep stages or sleeps in tables of their own, or whose codes are not documented.
    private static let withoutKinds = [
        "XIAOMI_", "COLMI_", "CMF_", "GARMIN_", "MOYOUNG_", "PEBBLE_", "OVTOUCH26_", "HYBRID_", "HPLUS_",
        "WATCH_XPLUS_",
    ]
    /// The app's own codes of sleep (`ActivityKind`).
    private static let kinds: [Int64: Sleep.Stage.Depth] = [2: .light, 4: .deep, 0x100_0000: .rem, 0x200_0000: .awake]

    /// What is known of a table; `nil` if its rows say nothing of sleep.
    init?(of table: Table) {
        guard table.isActivity, table.columns.contains("RAW_KIND"),
            !Self.withoutKinds.contains(where: { table.name.hasPrefix($0) })
        else { return nil }
        switch table.name {
        case "MI_BAND_ACTIVITY_SAMPLE": self.init { Self.miBand($0.integer(0)) }
        case "HUAMI_EXTENDED_ACTIVITY_SAMPLE":
            self.init(columns: ["RAW_KIND", "DEEP_SLEEP", "REM_SLEEP"]) { Self.huami($0) }
        case "HUAWEI_ACTIVITY_SAMPLE":
            // Its naps, 0x5659, are whole sleeps (`WholeSleeps`).
            self.init(columns: ["RAW_KIND", "OTHER_TIMESTAMP"], length: .lasting(.seconds(1))) {
                Self.code($0, [6: .light, 7: .deep, 0x5656: .rem, 0x5658: .awake])
            }
            if table.columns.contains("SOURCE") { condition = Self.withoutDoubles }
            let unit = table.unit
            seconds = { row in row.integer(1).map { (unit.moment($0) - row.moment).inMilliseconds / 1000 } }
        case "LEFUN_ACTIVITY_SAMPLE": self.init { Self.code($0, [3: .light, 4: .deep]) }
        case "WITHINGS_STEEL_HRACTIVITY_SAMPLE":
            // The app writes its own codes here (`ActivitySampleHandler`), and reads 1 as light sleep, too.
            self.init(columns: ["RAW_KIND", "DURATION"], length: .lasting(.seconds(1))) {
                $0.integer(0) == 1 ? .asleep(.light) : Self.code($0, Self.kinds)
            }
        default: self.init { Self.code($0, Self.kinds) }
        }
        guard table.columns.isSuperset(of: columns) else { return nil }
    }

    private init(
        columns: [String] = ["RAW_KIND"], length: StageLength = .fixedBefore(.minutes(1)),
        kind: @escaping @Sendable (Row) -> Kind
    ) {
        self.columns = columns
        self.length = length
        self.kind = kind
    }

    private static func code(_ row: Row, _ codes: [Int64: Sleep.Stage.Depth]) -> Kind {
        row.integer(0).flatMap { codes[$0] }.map { .asleep($0) } ?? .other
    }

    /// The lower four bits: 9 light sleep, 11 deep sleep; 0 and 10 repeat the kind before.
    private static func miBand(_ raw: Int64?) -> Kind {
        switch raw.map({ $0 & 0xf }) {
        case 9: .asleep(.light)
        case 11: .asleep(.deep)
        case 0, 10: .unchanged
        default: .other
        }
    }

    /// 120 is asleep; the depth is in two columns of their own, of which the lower seven bits count.
    private static func huami(_ row: Row) -> Kind {
        guard row.integer(0) == 120 else { return .other }
        if let rem = row.integer(2), rem & 127 > 55 { return .asleep(.rem) }
        if let deep = row.integer(1), deep & 127 > 42 { return .asleep(.deep) }
        return .asleep(.light)
    }

    /// The nights of a table.
    func nights(of table: Table) -> ChainNights {
        let (columns, length, kind, seconds) = (columns, length, kind, seconds)
        let conditions = [table.condition, condition].compactMap(\.self)
        let condition = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
        return ChainNights(table: table.name, rank: .minutes, length: length, pause: NightLimits.pause) {
            reading throws(ExportError) in
            let statement = try reading.database.statement(
                Table.select(columns, from: table.name, condition: condition))
            statement.bind(
                reading.device, table.unit.number(notBefore: reading.from), table.unit.number(notBefore: reading.to))
            var last = Kind.other
            var seen: Timestamp?
            return { () throws(ExportError) in
                while try statement.step() {
                    let row = Row(statement, unit: table.unit)
                    let found = kind(row)
                    // After a pause nothing is as it was.
                    if let seen, row.moment - seen > NightLimits.pause { last = .other }
                    seen = row.moment
                    if found != .unchanged { last = found }
                    guard case .asleep(let depth) = last else { continue }
                    var result = StageRow(moment: row.moment, depth: depth)
                    if case .lasting(let one) = length {
                        result.length = one * Int(clamping: min(max(seconds(row) ?? 0, 0), 86_400))
                    }
                    return result
                }
                return nil
            }
        }
    }
}
