import GRDB
package import Vitals

/// The samples of a store in pages, read without changing it and while a gateway may be using it.
///
/// Each page is a transaction of its own. One over all of them would keep the gateway's log from being moved into its main file for as long
/// as whoever takes the samples needs, and a pipe may need hours. So each page is one moment of the store, and a sample that is there all the
/// time is read exactly once; what arrives meanwhile is read if its place is still to come.
package struct StoreExport {
    /// The samples of a metric of a device.
    package struct Series: Sendable, Hashable {
        package var device: DeviceID
        package var metric: Metric
        /// How many there are, about: those in the journal do not count.
        package var samples: Int
        fileprivate var row: Int64
    }

    /// A part of a series, in key order.
    package struct Page: Sendable {
        package var samples: [StoredSample] = []
        /// Whether none was behind it when it was read.
        package var isLast = false
    }

    /// The most samples of a page: some hundred kilobytes, read in a few milliseconds.
    package static let page = 1_000
    /// The most sleeps of a page: one may have as many stages as fifty other samples have bytes.
    package static let sleepPage = 50

    private let queue: DatabaseQueue

    /// Runs `body` with the samples of a store.
    /// - Throws: `StoreError` if the file cannot be read, is no store, or was made by an older version; and what `body` throws.
    package static func read<Result>(
        _ store: String, _ body: (StoreExport) throws -> Result
    ) throws(StoreError) -> Result {
        try StoreCopy.withReader(of: store) { queue in
            try queue.read { database in
                try StorePlace(path: store).checkOwner(in: database)
                guard try Schema.migrator.hasCompletedMigrations(database) else {
                    throw StoreError(
                        .unavailable,
                        "\(store) was made by an older version. Start the gateway once: it converts the store.")
                }
            }
            return try body(StoreExport(queue: queue))
        }
    }

    /// All series, by device and metric. What this version does not know is left out.
    package func series() throws -> [Series] {
        let sql = """
            SELECT series.id, device.name, series.metric, (SELECT count(*) FROM sample WHERE sample.series = series.id)
            FROM series JOIN device ON device.id = series.device ORDER BY device.name, series.metric
            """
        return try queue.read { database in
            try Row.fetchAll(database, sql: sql).compactMap { row -> Series? in
                guard let device = DeviceID(row[1] as String), let metric = Metric(rawValue: row[2] as String) else {
                    return nil
                }
                return Series(device: device, metric: metric, samples: row[3], row: row[0])
            }
        }
    }

    /// The next samples of a series behind a key, withdrawn ones included.
    package func page(of series: Series, starting range: Range<Timestamp>, after: SampleKey?) throws -> Page {
        let limit = series.metric.shape == .sleep ? Self.sleepPage : Self.page
        return try queue.read {
            try Self.readPage(of: series, starting: range, after: after, limit: limit, in: $0)
        }
    }

    /// A page of about `limit` samples, with those in the journal that belong to it.
    static func readPage(
        of series: Series, starting range: Range<Timestamp>, after: SampleKey?, limit: Int, in database: Database
    ) throws -> Page {
        var page = Page()
        page.samples = try SampleTable.samples(
            of: series.row, device: series.device, metric: series.metric, starting: range, after: after,
            limit: limit, in: database)
        page.isLast = page.samples.count < limit
        let end = page.isLast ? nil : page.samples.last.map { SampleKey($0.sample) }
        // The gateway moves samples from its journal to the table in one transaction, so each is in one of them.
        let waiting = try journaled(series, in: database).filter { stored in
            let key = SampleKey(stored.sample)
            return range.contains(key.start) && after.map { $0 < key } ?? true && end.map { key < $0 } ?? true
        }
        guard !waiting.isEmpty else { return page }
        page.samples = (page.samples + waiting).sorted { SampleKey($0.sample) < SampleKey($1.sample) }
        return page
    }

    private static func journaled(_ series: Series, in database: Database) throws -> [StoredSample] {
        var result: [StoredSample] = []
        let records = try Row.fetchCursor(database, sql: "SELECT record FROM journal ORDER BY number")
        while let row = try records.next() {
            for item in try JournalRecord(packed: row.bytes(at: 0) ?? []).items where item.series == series.row {
                result.append(try StoredSample(item, of: series.device, metric: series.metric))
            }
        }
        return result
    }
}

extension SQLiteStore {
    /// Samples of a metric behind a key, at most `limit` and withdrawn ones included. Unlike `samples` it asks the writer for nothing:
    /// what is in the journal is read there.
    package nonisolated func history(
        of device: DeviceID, _ metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await reader.read { database in
            let row = try Int64.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT series.id FROM series JOIN device ON device.id = series.device
                        WHERE device.name = ? AND metric = ?
                        """), arguments: [device.text, metric.rawValue])
            guard let row else { return [] }
            let series = StoreExport.Series(device: device, metric: metric, samples: 0, row: row)
            let page = try StoreExport.readPage(of: series, starting: range, after: after, limit: limit, in: database)
            return Array(page.samples.prefix(limit))
        }
    }

    /// The edges of a device's alerts that were measured before a moment, the newest first. Those of one moment are never separated, so
    /// there may be a few more than `limit`.
    package nonisolated func edges(
        of device: DeviceID, before: Timestamp, limit: Int
    ) async throws(StoreError) -> [AlertEvent] {
        try await reader.read { try EdgeTable.edges(of: device, before: before, limit: limit, in: $0) }
    }

    /// The gaps of a device that a replay reaches, the newest first.
    package nonisolated func gaps(of device: DeviceID, limit: Int) async throws(StoreError) -> [Gap] {
        try await reader.read { try OutboxTable.gaps(of: device, limit: limit, in: $0) }
    }
}

extension StoredSample {
    /// The sample of a row in the journal.
    fileprivate init(_ item: JournalRecord.Item, of device: DeviceID, metric: Metric) throws {
        let start = Timestamp(milliseconds: item.start)
        let head = try RowHead(fields: item.fields, isBeside: false)
        let sample = Sample(
            metric: metric, start: start, end: Timestamp(milliseconds: item.start &+ item.duration),
            kind: Sample.Kind(code: item.kind), isUserInitiated: item.isUserInitiated, isExercise: item.isExercise,
            revision: item.deviceRevision, user: item.user, qualifiers: try metric.qualifiers(fields: item.fields),
            origin: head.origin, changedAt: head.changedAt,
            reading: try Reading(metric: metric, value: item.value ?? 0, fields: item.fields))
        self.init(
            sample: sample, of: device, revision: item.revision,
            receivedAt: Timestamp(milliseconds: item.receivedAt))
    }
}

extension SampleTable {
    private static let exported = """
        SELECT \(columns) FROM sample
        WHERE series = ?1 AND start >= ?2 AND start < ?3 AND (start, duration, user_initiated) > (?4, ?5, ?6)
        ORDER BY start, duration, user_initiated LIMIT ?7
        """

    fileprivate static func samples(
        of series: Int64, device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?,
        limit: Int, in database: Database
    ) throws -> [StoredSample] {
        let statement = try RawStatement(exported, in: database)
        statement.bind(series, at: 1)
        statement.bind(max(range.lowerBound, after?.start ?? range.lowerBound).milliseconds, at: 2)
        statement.bind(range.upperBound.milliseconds, at: 3)
        // Without a key to continue from, start before every key.
        statement.bind(after?.start.milliseconds ?? Int64.min, at: 4)
        statement.bind(after?.duration ?? Int64.min, at: 5)
        statement.bind(after?.code ?? Int64(0), at: 6)
        statement.bind(Int64(limit), at: 7)
        var result: [StoredSample] = []
        while try statement.step() { result.append(try read(statement, device: device, metric: metric)) }
        return result
    }
}
