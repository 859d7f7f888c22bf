import Foundation
import GRDB
import JSON
import Vitals

extension Transaction {
    /// The cache entry of a device. An unknown device is inserted.
    func cachedDevice(of device: DeviceID) throws -> CachedDevice {
        if let cached = cache.devices[device] { return cached }
        try execute("INSERT INTO device(name) VALUES (?) ON CONFLICT DO NOTHING", [device.text])
        let statement = try database.cachedStatement(sql: "SELECT id FROM device WHERE name = ?")
        guard let row = try Int64.fetchOne(statement, arguments: [device.text]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a device is missing")
        }
        var cached = CachedDevice(row: row)
        let series = try database.cachedStatement(
            sql: """
                SELECT metric, id, high_water, cursor, latest_start, latest_duration, latest_user_initiated
                FROM series WHERE device = ?
                """)
        for row in try Row.fetchAll(series, arguments: [row]) {
            guard let metric = Metric(rawValue: row[0]) else { continue }
            cached.series[metric.index] = CachedSeries(row)
        }
        cache.devices[device] = cached
        return cached
    }

    /// The cache entry of a series. An unknown series is inserted.
    func series(_ metric: Metric, of cached: inout CachedDevice) throws -> CachedSeries {
        if let series = cached.series[metric.index] { return series }
        try execute("INSERT INTO series(device, metric) VALUES (?, ?)", [cached.row, metric.rawValue])
        let series = CachedSeries(row: database.lastInsertedRowID)
        cached.series[metric.index] = series
        return series
    }

    /// The row of a series. An unknown series is inserted.
    func row(of device: DeviceID, _ metric: Metric) throws -> Int64 {
        var cached = try cachedDevice(of: device)
        let row = try series(metric, of: &cached).row
        cache.devices[device] = cached
        return row
    }

    /// Stores a device's cache entry, and writes its changed series.
    func save(_ cached: CachedDevice, of device: DeviceID) throws {
        var cached = cached
        for place in cached.series.indices {
            guard let series = cached.series[place], series.isChanged else { continue }
            if cache.journal.has(series: series.row) {
                // The fold must not set older values afterwards.
                record.marks.append(
                    JournalRecord.Mark(series: series.row, highWater: series.highWater, latest: series.latest))
            }
            try execute(
                """
                UPDATE series SET high_water = ?, cursor = ?, latest_start = ?, latest_duration = ?,
                    latest_user_initiated = ? WHERE id = ?
                """,
                [
                    series.highWater, series.cursor, series.latest?.start.milliseconds, series.latest?.duration,
                    series.latest?.code, series.row,
                ])
            cached.series[place]?.isChanged = false
        }
        cache.devices[device] = cached
    }

    /// Stores the changed parts of a device's state.
    func save(_ changes: [DeviceChange], of device: DeviceID) throws {
        var cached = try cachedDevice(of: device)
        try execute("UPDATE device SET known = 1 WHERE id = ? AND known = 0", [cached.row])
        for change in changes {
            switch change {
            case .identity(let identity, let capabilities):
                try execute(
                    "UPDATE device SET identity = ?, capabilities = ? WHERE id = ?",
                    [identity.json.text, capabilities.json.text, cached.row])
            case .features(let features):
                try execute("UPDATE device SET features = ? WHERE id = ?", [features.rawValue, cached.row])
            case .cursor(let metric, let moment): try move(cursor: moment, of: metric, in: &cached)
            case .twin(let twin):
                try execute("UPDATE device SET twin = ? WHERE id = ?", [twin.json.text, cached.row])
            case .level(let level): try save(level, of: cached)
            case .lastSeen(let moment):
                try execute("UPDATE device SET last_seen = ? WHERE id = ?", [moment.milliseconds, cached.row])
            case .lastSync(let moment):
                try execute("UPDATE device SET last_sync = ? WHERE id = ?", [moment.milliseconds, cached.row])
            case .takenAgain(let moment): try takeAgain(from: moment, in: &cached)
            }
        }
        try save(cached, of: device)
    }

    func move(cursor: Timestamp, of metric: Metric, in cached: inout CachedDevice) throws {
        var series = try series(metric, of: &cached)
        series.cursor = cursor.milliseconds
        series.isChanged = true
        cached.series[metric.index] = series
    }

    func save(_ level: AlertLevel, of cached: CachedDevice) throws {
        try execute(
            """
            INSERT INTO alert_level(
                device, rule, active, since, value, measured_limit, last_id, raised_at, user, acknowledged_by,
                acknowledged_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(device, rule) DO UPDATE SET active = excluded.active, since = excluded.since,
                value = excluded.value, measured_limit = excluded.measured_limit, last_id = excluded.last_id,
                raised_at = excluded.raised_at, user = excluded.user, acknowledged_by = excluded.acknowledged_by,
                acknowledged_at = excluded.acknowledged_at
            """,
            [
                cached.row, level.rule.name, level.isActive, level.since.milliseconds, level.value, level.limit,
                level.lastID?.description, level.raisedAt?.milliseconds, level.user, level.acknowledgement?.person,
                level.acknowledgement?.at.milliseconds,
            ])
        // An active level began with its edge.
        if let seen = level.acknowledgement, let id = level.lastID {
            try EdgeTable.acknowledge(id, measuredAt: level.since, seen, of: cached.row, in: database)
        }
    }

    /// Keeps the time of a warning. Returns whether it is new.
    func note(warning: AlertEvent, of cached: CachedDevice) throws -> Bool {
        try execute(
            "INSERT OR IGNORE INTO warning(device, rule, at) VALUES (?, ?, ?)",
            [cached.row, warning.rule.name, warning.measuredAt.milliseconds])
        return changes > 0
    }

    /// Deletes a device's state and answers, and what was erased is taken again. The data of its samples stays: their series, days,
    /// the days still to be summarised, and the newest published `latest`; so do the times of its warnings, which may come again as samples may.
    func forget(_ device: DeviceID) throws {
        try fold()
        // The space ends the scope in a key, and `!` follows it.
        try dropAnswers("key >= ?1 AND key < ?2", ["\(device.text) ", "\(device.text)!"])
        guard
            let row = try Int64.fetchOne(
                database, sql: "SELECT id FROM device WHERE name = ?", arguments: [device.text])
        else { return }
        try execute(
            """
            UPDATE device SET known = 0, identity = NULL, capabilities = NULL, features = 0, twin = NULL,
                last_seen = NULL, last_sync = NULL WHERE id = ?
            """, [row])
        try execute("UPDATE series SET cursor = NULL WHERE device = ?", [row])
        try execute("DELETE FROM alert_level WHERE device = ?", [row])
        try execute("DELETE FROM driver_note WHERE device = ?", [row])
        try execute("DELETE FROM erasure WHERE device = ?", [row])
        try execute(
            "DELETE FROM pending_statistics WHERE series IN (SELECT id FROM series WHERE device = ?)", [row])
        cache.devices[device] = nil
    }
}

extension CachedSeries {
    fileprivate init(row: Int64) { self.row = row }

    /// A cache entry from a row of metric, id, high-water mark, cursor and the three parts of the latest key.
    fileprivate init(_ values: Row) {
        row = values[1]
        highWater = values[2]
        cursor = values[3]
        latest = SampleKey(values, from: 4)
    }
}

extension SampleKey {
    /// The sample's duration in milliseconds.
    var duration: Int64 { end.milliseconds &- start.milliseconds }

    /// The key from three columns: start, duration, code. `nil` if there is none.
    init?(_ row: Row, from index: Int) {
        guard let start = row[index] as Int64?, let duration = row[index + 1] as Int64? else { return nil }
        self.init(
            start: Timestamp(milliseconds: start), end: Timestamp(milliseconds: start &+ duration),
            code: row[index + 2] as Int64? ?? 0)
    }
}

/// The notes that drivers keep of their devices, by names that only they understand (see `DeviceNotes`).
enum NoteTable {
    static func notes(of device: DeviceID, in database: Database) throws -> [String: [UInt8]] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT driver_note.name, bytes FROM driver_note JOIN device ON device.id = driver_note.device
                WHERE device.name = ?
                """)
        var notes: [String: [UInt8]] = [:]
        let rows = try Row.fetchCursor(statement, arguments: [device.text])
        while let row = try rows.next() { notes[row[0]] = [UInt8](row[1] as Data) }
        return notes
    }
}

extension Transaction {
    /// Changes the notes of a device's driver; `nil` removes one.
    func saveNotes(_ changes: [String: [UInt8]?], of device: DeviceID) throws {
        let row = try cachedDevice(of: device).row
        for (name, bytes) in changes {
            if let bytes {
                try execute(
                    """
                    INSERT INTO driver_note(device, name, bytes) VALUES (?, ?, ?)
                    ON CONFLICT(device, name) DO UPDATE SET bytes = excluded.bytes
                    """, [row, name, Data(bytes)])
            } else {
                try execute("DELETE FROM driver_note WHERE device = ? AND name = ?", [row, name])
            }
        }
    }
}
