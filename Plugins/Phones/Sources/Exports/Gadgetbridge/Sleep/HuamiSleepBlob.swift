import Vitals

/// A night of a Huami or Zepp OS wearable as it keeps it: 594 bytes, little endian.
///
/// Minutes count from the midnight before the one that the record names. The totals at the end are a check sum: a record whose
/// stages do not agree with them is not understood.
struct HuamiSleepBlob: Sendable, Hashable {
    let start: Timestamp
    let end: Timestamp
    let stages: [Sleep.Stage]

    /// Where its parts are, in bytes.
    private enum Place {
        static let midnight = 0x04, start = 0x0a, end = 0x0c, count = 0x54, stages = 0x56, stageLength = 5
    }

    /// Where the total minutes of each depth are.
    private static let totals: [(depth: Sleep.Stage.Depth, place: Int)] = [
        (.rem, 0x24a), (.light, 0x24c), (.deep, 0x24e), (.awake, 0x250),
    ]
    private static let depths: [UInt8: Sleep.Stage.Depth] = [4: .light, 5: .deep, 7: .awake, 8: .rem]

    init(_ bytes: [UInt8]) throws(SkippedRows.Reason) {
        let view = ByteView(bytes)
        guard let midnight = view.u32(Place.midnight), let first = view.u16(Place.start),
            let last = view.u16(Place.end),
            let count = view.u8(Place.count)
        else { throw .unreadable }
        func moment(_ minute: UInt16) -> Timestamp {
            Timestamp(seconds: Int64(midnight) - 86_400 + Int64(minute) * 60)
        }
        (start, end) = (moment(first), moment(last))
        var stages: [Sleep.Stage] = []
        var minutes: [Sleep.Stage.Depth: (sum: Int, count: Int)] = [:]
        for index in 0..<Int(count) {
            let place = Place.stages + index * Place.stageLength
            guard let from = view.u16(place), let to = view.u16(place + 2), let code = view.u8(place + 4), from <= to
            else {
                throw .unreadable
            }
            guard let depth = Self.depths[code] else { throw .unknownCode }
            minutes[depth, default: (0, 0)].sum += Int(to) - Int(from)
            minutes[depth, default: (0, 0)].count += 1
            guard from < to else { continue }
            guard moment(from) >= stages.last?.end ?? start, moment(to) <= end else {
                throw .checkSum
            }
            stages.append(Sleep.Stage(depth, from: moment(from), to: moment(to)))
        }
        guard !stages.isEmpty, start < end else { throw .incomplete }
        for (depth, place) in Self.totals {
            guard let total = view.u16(place) else { throw .unreadable }
            let found = minutes[depth] ?? (0, 0)
            // No source says whether a total has the last minute of each stage. One way alone could refuse all nights of a wearable.
            guard (found.sum...(found.sum + found.count)).contains(Int(total)) else {
                throw .checkSum
            }
        }
        self.stages = stages
    }
}

/// Nights of HUAMI_SLEEP_SESSION_SAMPLE.
struct HuamiNights: NightFeed {
    static let table = "HUAMI_SLEEP_SESSION_SAMPLE"
    let unit: TimeUnit
    var table: String { Self.table }
    let rank = Rank.records

    /// The most bytes of a record: a hundred times the usual.
    static let maximumRecord = 64 * 1024

    /// How far a record's TIMESTAMP may be from the beginning of its night.
    private static let margin: Duration = .days(2)

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        // SQLite checks kind and length of a blob without reading it; one that is too long would end the reading.
        let statement = try reading.database.statement(
            """
            SELECT TIMESTAMP, CASE WHEN typeof(DATA) = 'blob' AND length(DATA) <= \(Self.maximumRecord) THEN DATA END
            FROM \(table) WHERE DEVICE_ID = ?1 AND TIMESTAMP >= ?2 AND TIMESTAMP < ?3 ORDER BY TIMESTAMP
            """)
        statement.bind(
            reading.device, unit.number(notBefore: reading.from - Self.margin),
            unit.number(notBefore: reading.to + Self.margin))
        var nights: [Sample] = []
        var sleeps = RecordsOfDay(limit: NightLimits.perDay)
        while try statement.step() {
            let row = Row(statement, unit: unit)
            guard sleeps.admits(row.moment) else {
                reading.skip(.tooMany, in: table, at: row.moment, limit: NightLimits.perDay)
                continue
            }
            do throws(SkippedRows.Reason) {
                let night = try HuamiSleepBlob(row.bytes(0) ?? [])
                // The check sum is one of the stages; the row's own time checks that of the night.
                guard abs(night.start.milliseconds - row.moment.milliseconds) <= Self.margin.inMilliseconds else {
                    throw .checkSum
                }
                guard night.start >= reading.from, night.start < reading.to else { continue }
                guard night.end - night.start <= NightLimits.night else { throw .tooLong }
                nights.append(
                    Sample(
                        metric: .sleep, start: night.start, end: night.end,
                        reading: .sleep(Sleep(stages: night.stages))))
            } catch {
                reading.skip(error, in: table, at: row.moment)
            }
        }
        return nights.sorted { $0.start < $1.start }
    }
}
