import Vitals

/// A sleep of which a wearable says when it began and ended.
struct WholeSleep: Sendable {
    var start: Timestamp
    /// `nil` if it is not known yet.
    var end: Timestamp?
    /// When the person slept, where the bounds are those of a time in bed.
    var asleep: Range<Timestamp>?
    /// Whole minutes of depths, of a day at most, where the wearable says how many.
    var minutes: [Sleep.Stage.Depth: Int] = [:]

    /// What is known of it without stages.
    func sleep(until end: Timestamp) -> Sleep {
        let total = minutes.values.reduce(0, +)
        // Each number may have been rounded up.
        if total > 0, total <= Int((end - start).inMilliseconds / 60_000) + minutes.count {
            return Sleep(stages: [], untimed: minutes)
        }
        let slept = (asleep ?? start..<end).clamped(to: start..<end)
        let parts: [(Sleep.Stage.Depth, Timestamp, Timestamp)] = [
            (.inBed, start, slept.lowerBound), (.asleep, slept.lowerBound, slept.upperBound),
            (.inBed, slept.upperBound, end),
        ]
        return Sleep(stages: parts.filter { $1 < $2 }.map { Sleep.Stage($0, from: $1, to: $2) })
    }
}

extension WholeSleep {
    /// When it ended; `nil` for one that has no end yet, or is too long to be one, which is counted.
    func knownEnd(in table: String, _ reading: ExportRange) -> Timestamp? {
        guard let end, end > start else {
            reading.skip(.incomplete, in: table, at: start)
            return nil
        }
        guard end - start <= NightLimits.night else {
            reading.skip(.tooLong, in: table, at: start)
            return nil
        }
        return end
    }
}

/// Naps and nights of which a wearable keeps the bounds, and no stages. Those that touch are one sleep.
struct WholeSleeps: NightFeed {
    let table: String
    let rank = Rank.records
    let sessions: @Sendable (ExportRange) throws(ExportError) -> [WholeSleep]

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        var found: [(start: Timestamp, end: Timestamp, sleep: Sleep)] = []
        for session in try sessions(reading) {
            guard let end = session.knownEnd(in: table, reading) else { continue }
            let sleep = session.sleep(until: end)
            if let last = found.last, session.start <= last.end, end > last.end, last.sleep.isPlain, sleep.isPlain,
                end - last.start <= NightLimits.night
            {
                let whole = WholeSleep(start: last.start).sleep(until: end)
                found[found.count - 1] = (last.start, end, whole)
            } else {
                found.append((session.start, end, sleep))
            }
        }
        return found.map { Sample(metric: .sleep, start: $0.start, end: $0.end, reading: .sleep($0.sleep)) }
    }
}

extension Sleep {
    /// Whether it says nothing but that the person slept.
    fileprivate var isPlain: Bool { untimed.isEmpty && stages.map(\.depth) == [.asleep] }
}

extension WholeSleeps {
    /// The whole sleeps of a table; `nil` if it has none.
    init?(of table: Table, _ device: Int64, in database: ExportDatabase) throws(ExportError) {
        let found: @Sendable (ExportRange) throws(ExportError) -> [WholeSleep]
        switch table.name {
        case "GARMIN_NAP_SAMPLE" where table.columns.contains("END_TIMESTAMP"):
            found = SessionNights.sessions(of: table.name, end: "END_TIMESTAMP", unit: table.unit)
        // Naps of Huawei stand among its activities, each twice, the second time with its ends exchanged.
        case "HUAWEI_ACTIVITY_SAMPLE" where table.columns.isSuperset(of: ["RAW_KIND", "OTHER_TIMESTAMP"]):
            found = SessionNights.sessions(
                of: table.name, end: "OTHER_TIMESTAMP", unit: table.unit,
                condition: "OTHER_TIMESTAMP > TIMESTAMP AND RAW_KIND = \(Self.huaweiNap)")
        case HuaweiSleeps.table where HuaweiSleeps.areReadable(in: database): found = HuaweiSleeps.sessions
        case SessionNights.events where table.columns.isSuperset(of: ["EVENT", "EVENT_TYPE"]):
            let statement = try database.statement(
                "SELECT 1 FROM \(table.name) WHERE DEVICE_ID = ?1 AND \(SessionNights.isSleep) LIMIT 1")
            statement.bind(device)
            guard try statement.step() else { return nil }
            found = SessionNights.garminEvents
        default:
            let all = StageTable.all.compactMap(\.sessions)
            guard let sessions = all.first(where: { $0.table == table.name }), table.columns.contains(sessions.end)
            else { return nil }
            found = sessions.sleeps(of: table.columns, unit: table.unit)
        }
        self.init(table: table.name, sessions: found)
    }

    /// RAW_KIND of a nap.
    private static let huaweiNap = 0x5659
}
