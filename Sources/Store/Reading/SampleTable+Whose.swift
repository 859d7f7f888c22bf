import GRDB
package import Vitals

extension SQLiteStore {
    /// Keys that are compared at once, before others may read: some milliseconds.
    static let comparedKeys = 5_000

    package nonisolated func waiting(of device: DeviceID, limit: Int) async throws(StoreError) -> [StoredSample] {
        try await reader.read { database in
            var found: [StoredSample] = []
            for (row, metric) in try SampleTable.series(of: device, in: database) {
                let statement = try RawStatement(SampleTable.waiting, in: database)
                statement.bind(row, at: 1)
                statement.bind(Int64(limit), at: 2)
                while try statement.step() {
                    found.append(try SampleTable.read(statement, device: device, metric: metric))
                }
            }
            found.sort { ($0.sample.start, $0.sample.metric.index) < ($1.sample.start, $1.sample.metric.index) }
            return Array(found.prefix(limit))
        }
    }

    package nonisolated func occasion(
        of id: SampleID, of device: DeviceID
    ) async throws(StoreError) -> [StoredSample] {
        try await foldJournal()
        let all = try await reader.read { try SampleTable.series(of: device, in: $0) }
        for (row, metric) in all {
            var before: SampleKey?
            repeat {
                let page = try await reader.read { [before] database in
                    try SampleTable.search(id, in: row, device, metric, before: before, database)
                }
                if let found = page.found {
                    let others = try await reader.read { database in
                        try all.filter { $0.metric != metric && !$0.metric.isInterval }.flatMap { row, metric in
                            try SampleTable.beginning(with: found.sample.start, in: row, device, metric, database)
                        }
                    }
                    return [found] + others
                }
                before = page.last
            } while before != nil
        }
        return []
    }
}

extension SampleTable {
    fileprivate static let waiting = """
        SELECT \(columns) FROM sample WHERE series = ?1 AND whose < '-' ORDER BY start LIMIT ?2
        """
    private static let keys = """
        SELECT start, duration, user_initiated FROM sample
        WHERE series = ?1 AND (start, duration, user_initiated) < (?2, ?3, ?4)
        ORDER BY start DESC, duration DESC, user_initiated DESC LIMIT ?5
        """

    fileprivate static func series(
        of device: DeviceID, in database: Database
    ) throws -> [(row: Int64, metric: Metric)] {
        let sql = """
            SELECT series.id, series.metric FROM series JOIN device ON device.id = series.device
            WHERE device.name = ? ORDER BY series.id
            """
        return try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [device.text]).compactMap { row in
            Metric(rawValue: row[1]).map { (row[0], $0) }
        }
    }

    /// Compares the ids of a page of samples, the newest first.
    /// - Returns: the sample, or the key of the last one if there may be more.
    fileprivate static func search(
        _ id: SampleID, in series: Int64, _ device: DeviceID, _ metric: Metric, before: SampleKey?,
        _ database: Database
    ) throws -> (found: StoredSample?, last: SampleKey?) {
        let statement = try RawStatement(keys, in: database)
        let lookup = try RawStatement(lookup, in: database)
        statement.bind(series, at: 1)
        statement.bind(before?.start.milliseconds ?? .max, at: 2)
        statement.bind(before?.duration ?? .max, at: 3)
        statement.bind(before?.code ?? .max, at: 4)
        statement.bind(Int64(SQLiteStore.comparedKeys), at: 5)
        var (count, last) = (0, before)
        while try statement.step() {
            let start = Timestamp(milliseconds: statement.int64(0))
            let end = Timestamp(milliseconds: statement.int64(0) &+ statement.int64(1))
            let key = SampleKey(start: start, end: end, code: statement.int64(2))
            count += 1
            last = key
            // A sample of several sources, or with a separate word, has more in its id than its key.
            if key.source == 0 {
                let own = SampleID(
                    device: device, metric: metric, start: start, end: end, isUserInitiated: key.isUserInitiated)
                if own != id { continue }
            }
            guard let found = try find(key, series: series, device: device, metric: metric, by: lookup),
                found.id == id
            else { continue }
            statement.reset()
            return (found, nil)
        }
        return (nil, count == SQLiteStore.comparedKeys ? last : nil)
    }

    fileprivate static func beginning(
        with start: Timestamp, in series: Int64, _ device: DeviceID, _ metric: Metric, _ database: Database
    ) throws -> [StoredSample] {
        let statement = try RawStatement(beginning, in: database)
        statement.bind(series, at: 1)
        statement.bind(start.milliseconds, at: 2)
        var found: [StoredSample] = []
        while try statement.step() { found.append(try read(statement, device: device, metric: metric)) }
        return found
    }
}
