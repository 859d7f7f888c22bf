import GRDB
import JSON
import Vitals

/// Reads the stored state of a device.
enum DeviceQueries {
    static func record(of device: DeviceID, in database: Database) throws -> DeviceRecord {
        guard let (profile, id) = try profile(of: device, in: database) else { return DeviceRecord() }
        var record = profile
        try readSeries(of: device, id: id, into: &record, in: database)
        try readLevels(of: id, into: &record, in: database)
        record.erasures = try ErasureTable.erasures(of: id, in: database)
        return record
    }

    /// The content and the number of the device's own row; `nil` if it has none.
    static func profile(of device: DeviceID, in database: Database) throws -> (record: DeviceRecord, id: Int64)? {
        let sql = """
            SELECT id, identity, capabilities, features, twin, last_seen, last_sync FROM device WHERE name = ?
            """
        let found = try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [device.text])
        guard let row = found else { return nil }
        var record = DeviceRecord()
        record.identity = try (row[1] as String?).map { DeviceIdentity(json: try .kept($0)) }
        record.capabilities = try (row[2] as String?).map { Capabilities(json: try .kept($0)) }
        record.features = DeviceFeatures(rawValue: row[3])
        record.twin = try (row[4] as String?).map { try TwinState(json: .kept($0)) }
        record.lastSeen = Timestamp(kept: row[5])
        record.lastSyncAt = Timestamp(kept: row[6])
        return (record, row[0])
    }

    private static func readSeries(
        of device: DeviceID, id: Int64, into record: inout DeviceRecord, in database: Database
    ) throws {
        let sql = """
            SELECT id, metric, high_water, cursor, latest_start, latest_duration, latest_user_initiated
            FROM series WHERE device = ?
            """
        let lookup = try RawStatement(SampleTable.lookup, in: database)
        for row in try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [id]) {
            guard let metric = Metric(rawValue: row[1]) else { continue }
            let series: Int64 = row[0]
            record.highWater[metric] = Timestamp(kept: row[2])
            record.cursors[metric] = Timestamp(kept: row[3])
            if let key = SampleKey(row, from: 4) {
                record.latest[metric] = try SampleTable.find(
                    key, series: series, device: device, metric: metric, by: lookup)
            }
            let days = try Int.fetchAll(
                database.cachedStatement(sql: "SELECT day FROM unsettled WHERE series = ?"), arguments: [series])
            for day in days { record.unsettledDays.insert(MetricDay(metric, LocalDay(number: day))) }
        }
    }

    private static func readLevels(of id: Int64, into record: inout DeviceRecord, in database: Database) throws {
        let sql = """
            SELECT rule, active, since, value, measured_limit, last_id, raised_at, user, acknowledged_by,
                acknowledged_at
            FROM alert_level WHERE device = ?
            """
        for row in try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [id]) {
            guard let rule = AlertRule(name: row[0]) else { continue }
            var level = AlertLevel(
                rule: rule, isActive: row[1], since: Timestamp(milliseconds: row[2]), value: row[3], limit: row[4],
                lastID: (row[5] as String?).flatMap { SampleID($0) }, raisedAt: Timestamp(kept: row[6]), user: row[7])
            if let person = row[8] as String?, let moment = Timestamp(kept: row[9]) {
                level.acknowledgement = Acknowledgement(by: person, at: moment)
            }
            record.levels[rule] = level
        }
    }

    static func known(in database: Database) throws -> [DeviceID] {
        try String.fetchAll(database, sql: "SELECT name FROM device WHERE known = 1 ORDER BY name")
            .compactMap { DeviceID($0) }
    }
}

extension Timestamp {
    /// The moment of a column, `nil` where it is empty.
    init?(kept milliseconds: Int64?) {
        guard let milliseconds else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
