import GRDB
import Vitals

/// The writer's copy of values in the file. It always equals the file: after a failed transaction it is read again.
struct WriterCache: Sendable {
    var counters: Counters
    var journal: CachedJournal
    var waitingAnswers = WaitingAnswers()
    /// The devices written to since the store was opened.
    var devices: [DeviceID: CachedDevice] = [:]

    init(_ database: Database) throws {
        counters = try Counters.current(in: database)
        // Earlier versions counted the payloads only. At most 10,000 rows, whose long payloads are not read.
        counters.answerBytes = try CommandTable.answerBytes(in: database)
        let acknowledged = counters.lanes[Lane.answer.rawValue].acknowledged
        for (key, size) in try CommandTable.sizes(after: acknowledged, through: .max, in: database) {
            waitingAnswers.add(size, of: key)
        }
        let isUnread = try Int.fetchOne(database, sql: "SELECT 1 FROM journal LIMIT 1") != nil
        journal = CachedJournal(isUnread: isUnread)
    }
}

/// The rows of a device and of its series.
struct CachedDevice: Sendable {
    let row: Int64
    var series = CachedSeriesTable()
}

/// A device's series, by `Metric.index`; `nil` for a metric without a row. It takes no memory for a device without any.
struct CachedSeriesTable: Sendable {
    private var places: [CachedSeries?] = []

    var indices: Range<Int> { places.indices }

    subscript(place: Int) -> CachedSeries? {
        get { places.isEmpty ? nil : places[place] }
        set {
            if places.isEmpty { places = Array(repeating: nil, count: Metric.allCases.count) }
            places[place] = newValue
        }
    }
}

/// A series' row.
struct CachedSeries: Sendable {
    let row: Int64
    var highWater: Int64?
    var cursor: Int64?
    /// The key of the newest sample by its end.
    var latest: SampleKey?
    /// How many milliseconds the longest count lasts; `nil` while no sample of the series names its source.
    var longest: Int64?
    var isChanged = false
}
