import Vitals

/// The feeds of one app in an export, by metric.
struct RecordCatalogue: Sendable {
    let feeds: [Metric: [any Feed]]
    /// Tables with records of the app that give no sample.
    let unknownTables: [String]
    /// Tables with records of the app that are read.
    let knownTables: Set<String>

    /// - Parameters:
    ///   - devices: the numbers of the recorders whose records are read; `nil` for all.
    ///   - origins: whose the records are; `nil` where it does not matter.
    init(
        _ database: ExportDatabase, app: Int64, devices: [Int64]?, origins: RecorderOrigins? = nil
    ) throws(ExportError) {
        let source = RecordSource(database: database, app: app, devices: devices, origins: origins)
        var feeds: [Metric: [any Feed]] = [:]
        var used: Set<String> = []
        func add(_ feed: (any Feed)?, of table: String) {
            guard let feed else { return }
            feeds[feed.metric, default: []].append(feed)
            used.insert(table)
        }
        for kind in ValueKind.all { add(try kind.feed(source), of: kind.table) }
        add(try SeriesFeeds.heartRates(source), of: SeriesFeeds.heartRate)
        add(try SeriesFeeds.skinTemperatures(source), of: SeriesFeeds.skinTemperature)
        add(try PressureFeed.feed(source), of: PressureFeed.table)
        for kind in CountKind.all { add(try kind.feed(source), of: kind.table) }
        add(try SleepSessionNights(source).map { SleepFeed(feeds: [$0]) }, of: SleepSessionNights.table)
        add(try ExerciseFeed(source), of: ExerciseFeed.table)
        self.feeds = feeds
        knownTables = used

        var unknown: [String] = []
        for table in RecordTable.all(in: database) where !used.contains(table.name) {
            if try table.hasRecords(of: app, in: database) { unknown.append(table.name) }
        }
        unknownTables = unknown
    }
}

/// The app and the device whose records are read from an export.
struct RecordSource {
    let database: ExportDatabase
    /// The number of the app.
    let app: Int64
    /// The numbers of the recorders that count; `nil` for all.
    let devices: [Int64]?
    /// Whose the records are; `nil` where it does not matter.
    let origins: RecorderOrigins?

    /// The records of a table; `nil` if there are none.
    func records(
        _ table: String, by time: String = "time", with columns: Set<String>
    ) throws(ExportError) -> Records? {
        var records = try Records(table, by: time, with: columns, of: app, devices: devices, in: database)
        records?.origins = origins
        return records
    }

    /// The values of series; `nil` if there are none.
    func series(
        _ child: (name: String, columns: Set<String>), of parent: (name: String, columns: Set<String>)
    ) throws(ExportError) -> Records? {
        var records = try Records(series: child, of: parent, of: app, devices: devices, in: database)
        records?.origins = origins
        return records
    }
}
