import Vitals

/// The feeds of one wearable in an export, by metric.
struct Catalogue: Sendable {
    let feeds: [Metric: [any Feed]]
    /// Tables with rows of the wearable that no rule knows.
    let unknownTables: [String]
    /// How many rows of the wearable have no usable time, by table.
    let withoutTime: [String: Int]

    /// The tables that are read.
    var tables: Set<String> { Set(feeds.values.joined().flatMap { $0.tables }) }

    /// - Parameter temperature: what temperatures are of that have neither a kind nor a place.
    init(
        _ database: ExportDatabase, device: Int64, temperature: UnspecifiedTemperature? = nil
    ) throws(ExportError) {
        var feeds: [Metric: [any Feed]] = [:]
        var unknown: [String] = []
        var nights: [any NightFeed] = []
        var whole: [WholeSleeps] = []
        // Tables of whole sleeps that belong to the stages of another table.
        var companions: Set<String> = []
        var withoutTime: [String: Int] = [:]
        for (name, columns) in database.tables.sorted(by: { $0.key < $1.key }) {
            guard Table.isReadable(name, Set(columns)), let times = try TableTimes(of: name, device, in: database)
            else { continue }
            let table = Table(name: name, columns: Set(columns), unit: times.unit ?? .seconds)
            guard table.isComplete else {
                unknown.append(name)
                continue
            }
            let found =
                ValueFeeds.feeds(of: table, temperature: temperature) + XiaomiManualFeeds.feeds(of: table)
                + LefunFeeds.feeds(of: table) + CounterFeeds.feeds(of: table) + DayFeeds.feeds(of: table)
            let sleeps = try Self.nights(of: table, device, in: database)
            let wholeSleeps = try WholeSleeps(of: table, device, in: database)
            if found.isEmpty, sleeps.isEmpty, wholeSleeps == nil { unknown.append(name) }
            if times.withoutTime > 0 { withoutTime[name] = times.withoutTime }
            // A metric without a readable row is none that the wearable has.
            guard times.unit != nil else { continue }
            for feed in found { feeds[feed.metric, default: []].append(feed) }
            nights += sleeps
            if let wholeSleeps { whole.append(wholeSleeps) }
            if !sleeps.isEmpty, let sessions = StageTable.all.first(where: { $0.table == name })?.sessions {
                companions.insert(sessions.table)
            }
            if name == HuaweiSleeps.stages, HuaweiSleeps.areReadable(in: database) {
                companions.insert(HuaweiSleeps.table)
            }
            if name == "GARMIN_SLEEP_STAGE_SAMPLE" { companions.insert(SessionNights.events) }
            // It has the sleeps that are in the kinds of the minutes, too.
            if !sleeps.isEmpty, name == "LEFUN_ACTIVITY_SAMPLE" { companions.insert("LEFUN_SLEEP_SAMPLE") }
        }
        for overlay in OverlayNights.all(in: database) where try overlay.isUsed(by: device, in: database) {
            nights.append(overlay)
            withoutTime[overlay.table] = try overlay.withoutTime(of: device, in: database)
        }
        nights += whole.filter { !companions.contains($0.table) } as [any NightFeed]
        if !nights.isEmpty { feeds[.sleep] = [SleepFeed(feeds: nights)] }
        let columns = database.tables[WorkoutFeed.table].map { Set($0) }
        if let workouts = WorkoutFeed(columns), try Self.hasWorkouts(of: device, in: database) {
            feeds[.sport] = [workouts]
            if let uptake = WorkoutFeed(columns, .vo2Max), try uptake.hasUptake(of: device, in: database) {
                feeds[.vo2Max, default: []].append(uptake)
            }
            withoutTime[WorkoutFeed.table] = try TableTimes.withoutTime(
                WorkoutFeed.table, device, in: database, column: "START_TIME", unit: .milliseconds)
        }
        self.feeds = feeds
        // Most events have nothing to do with health.
        let unknownTables = unknown.filter { !companions.contains($0) && $0 != SessionNights.events }
        self.unknownTables = unknownTables
        self.withoutTime = withoutTime.filter {
            $0.value > 0 && $0.key != SessionNights.events && !unknownTables.contains($0.key)
        }
    }

    private static func hasWorkouts(of device: Int64, in database: ExportDatabase) throws(ExportError) -> Bool {
        let statement = try database.statement("SELECT 1 FROM \(WorkoutFeed.table) WHERE DEVICE_ID = ?1 LIMIT 1")
        statement.bind(device)
        return try statement.step()
    }

    /// The sources of nights that are in a table.
    private static func nights(
        of table: Table, _ device: Int64, in database: ExportDatabase
    ) throws(ExportError) -> [any NightFeed] {
        if table.name == HuamiNights.table, table.columns.contains("DATA") { return [HuamiNights(unit: table.unit)] }
        if let sleep = ActivitySleep(of: table) { return [sleep.nights(of: table)] }
        guard let stages = StageTable.all.first(where: { $0.table == table.name }), table.columns.contains("STAGE")
        else {
            return []
        }
        if let family = stages.family {
            guard let columns = database.tables[family], Table.isReadable(family, Set(columns)),
                try TableTimes(of: family, device, in: database) != nil
            else { return [] }
        }
        if let sessions = stages.sessions {
            guard let columns = database.tables[sessions.table], columns.contains(sessions.end) else { return [] }
            return [
                SessionNights(
                    stages: stages, unit: table.unit, sessions: sessions.sleeps(of: columns, unit: table.unit))
            ]
        }
        let chain = ChainNights(table: table.name, rank: .stages, length: stages.length, pause: stages.pause) {
            reading throws(ExportError) in
            let rows = try stages.rows(reading, unit: table.unit)
            return { () throws(ExportError) in try rows.next() }
        }
        // Where a sleep has no record as a whole, its stages alone make a night.
        let events = Set(database.tables[SessionNights.events] ?? [])
        switch table.name {
        case "GARMIN_SLEEP_STAGE_SAMPLE" where events.isSuperset(of: ["EVENT", "EVENT_TYPE"]):
            let sessions = SessionNights(
                stages: stages, unit: table.unit, sessions: SessionNights.garminEvents, countsRows: false)
            return [StageNights(sessions: sessions, chains: chain)]
        case HuaweiSleeps.stages where HuaweiSleeps.areReadable(in: database):
            let sessions = SessionNights(
                stages: stages, unit: table.unit, sessions: HuaweiSleeps.sessions, countsRows: false)
            return [StageNights(sessions: sessions, chains: chain)]
        default: return [chain]
        }
    }
}
