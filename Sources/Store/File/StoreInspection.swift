import GRDB
package import Vitals

/// The content of a store, read without changing it and while a gateway may be using it.
package struct StoreInspection: Sendable {
    /// The samples of a metric of a device. Withdrawn ones count.
    package struct Series: Sendable, Hashable {
        package var device: String
        package var metric: String
        package var samples: Int
        package var days: Int
        /// The start of the first and the last sample; `nil` without samples.
        package var oldest: Timestamp?
        package var newest: Timestamp?
    }

    /// The number of the newest migration, such as `4`.
    package let version: String
    package let identity: String
    /// Bytes of the main file and its log.
    package let bytes: Int64
    /// By device and metric.
    package let series: [Series]
    /// The waiting messages by lane.
    package let waiting: [(lane: Lane, messages: Int)]

    /// - Throws: `StoreError` if the file cannot be read or is no store.
    package init(of path: String) throws(StoreError) { try self.init(of: path, migrator: Schema.migrator) }

    init(of path: String, migrator: DatabaseMigrator) throws(StoreError) {
        let place = StorePlace(path: StorePath.resolved(path), migrator: migrator)
        (version, identity, series, waiting) = try StoreCopy.withReader(of: path) { queue in
            try queue.read { database in
                try place.checkOwner(in: database)
                let versions = try migrator.appliedIdentifiers(database)
                let newest = migrator.migrations.last { versions.contains($0) } ?? "0"
                let identity = try String.fetchOne(database, sql: "SELECT identity FROM store") ?? "none"
                let counters = try Counters.current(in: database)
                let waiting = Lane.allCases.map { ($0, Int(counters.lanes[$0.rawValue].messages)) }
                return (newest, identity, try Self.series(in: database), waiting)
            }
        }
        bytes = place.bytes
    }

    private static func series(in database: Database) throws -> [Series] {
        let sql = """
            SELECT series.id, device.name, series.metric, (SELECT count(*) FROM sample WHERE sample.series = series.id),
                (SELECT count(*) FROM day WHERE day.series = series.id AND summary IS NOT NULL),
                (SELECT min(start) FROM sample WHERE sample.series = series.id),
                (SELECT max(start) FROM sample WHERE sample.series = series.id)
            FROM series JOIN device ON device.id = series.device ORDER BY device.name, series.metric
            """
        var rows: [Int64] = []
        var result: [Series] = []
        for row in try Row.fetchAll(database, sql: sql) {
            rows.append(row[0])
            result.append(
                Series(
                    device: row[1], metric: row[2], samples: row[3], days: row[4], oldest: Timestamp(kept: row[5]),
                    newest: Timestamp(kept: row[6])))
        }
        let records = try Row.fetchCursor(database, sql: "SELECT record FROM journal ORDER BY number")
        while let row = try records.next() {
            for item in try JournalRecord(packed: row.bytes(at: 0) ?? []).items {
                guard let place = rows.firstIndex(of: item.series) else { continue }
                let start = Timestamp(milliseconds: item.start)
                result[place].samples += 1
                result[place].oldest = min(result[place].oldest ?? start, start)
                result[place].newest = max(result[place].newest ?? start, start)
            }
        }
        return result
    }
}

/// The devices of a store, read without changing it and while a gateway may be using it.
package enum KnownDevices {
    /// The identity, capabilities, features and monitoring of devices; nothing else of a record is read. A device that
    /// was never connected has a record without capabilities.
    /// - Throws: `StoreError` if the file cannot be read, is no store, or was made by an older version.
    package static func profiles(
        of devices: [DeviceID], in path: String
    ) throws(StoreError) -> [DeviceID: DeviceRecord] {
        try StoreCopy.withReader(of: path) { queue in
            try queue.read { database in
                try StorePlace(path: path).checkOwner(in: database)
                guard try Schema.migrator.hasCompletedMigrations(database) else {
                    throw StoreError(
                        .unavailable,
                        "\(path) was made by an older version. Start the gateway once: it converts the store.")
                }
                return try devices.reduce(into: [:]) { records, device in
                    records[device] = try DeviceQueries.profile(of: device, in: database)?.record ?? DeviceRecord()
                }
            }
        }
    }
}
