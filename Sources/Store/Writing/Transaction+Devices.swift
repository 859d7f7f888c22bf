import Engines
import GRDB
import JSON
import Vitals

extension Transaction {
    /// The book of a device, which is made where it is not known.
    func book(of device: DeviceID) throws -> DeviceBook {
        if let book = books.devices[device] { return book }
        try execute("INSERT INTO device(name) VALUES (?) ON CONFLICT DO NOTHING", [device.text])
        let statement = try database.cachedStatement(sql: "SELECT id FROM device WHERE name = ?")
        guard let row = try Int64.fetchOne(statement, arguments: [device.text]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a device is missing")
        }
        var book = DeviceBook(row: row, series: Array(repeating: nil, count: Metric.allCases.count))
        let series = try database.cachedStatement(
            sql: """
                SELECT metric, id, high_water, cursor, latest_start, latest_duration, latest_user_initiated
                FROM series WHERE device = ?
                """)
        for row in try Row.fetchAll(series, arguments: [row]) {
            guard let metric = Metric(rawValue: row[0]) else { continue }
            book.series[metric.place] = SeriesBook(row)
        }
        books.devices[device] = book
        return book
    }

    /// The book of a series, which is made where it is not known.
    func series(_ metric: Metric, of book: inout DeviceBook) throws -> SeriesBook {
        if let series = book.series[metric.place] { return series }
        try execute("INSERT INTO series(device, metric) VALUES (?, ?)", [book.row, metric.rawValue])
        let series = SeriesBook(row: database.lastInsertedRowID)
        book.series[metric.place] = series
        return series
    }

    /// The row of a series, which is made where it is not known.
    func row(of device: DeviceID, _ metric: Metric) throws -> Int64 {
        var book = try book(of: device)
        let row = try series(metric, of: &book).row
        books.devices[device] = book
        return row
    }

    /// Keeps a device's book, and writes its series that changed.
    func keep(_ book: DeviceBook, of device: DeviceID) throws {
        var book = book
        for place in book.series.indices {
            guard let series = book.series[place], series.isChanged else { continue }
            try execute(
                """
                UPDATE series SET high_water = ?, cursor = ?, latest_start = ?, latest_duration = ?,
                    latest_user_initiated = ? WHERE id = ?
                """,
                [
                    series.highWater, series.cursor, series.latest?.start.milliseconds, series.latest?.duration,
                    series.latest?.isUserInitiated, series.row,
                ])
            book.series[place]?.isChanged = false
        }
        books.devices[device] = book
    }

    /// Keeps changed parts of a device's state.
    func save(_ changes: [DeviceChange], of device: DeviceID) throws {
        var book = try book(of: device)
        try execute("UPDATE device SET known = 1 WHERE id = ? AND known = 0", [book.row])
        for change in changes {
            switch change {
            case .identity(let identity, let capabilities):
                try execute(
                    "UPDATE device SET identity = ?, capabilities = ? WHERE id = ?",
                    [identity.json.text, capabilities.json.text, book.row])
            case .hasBattery: try execute("UPDATE device SET has_battery = 1 WHERE id = ?", [book.row])
            case .cursor(let metric, let moment): try move(cursor: moment, of: metric, in: &book)
            case .twin(let twin):
                try execute("UPDATE device SET twin = ? WHERE id = ?", [twin.json.text, book.row])
            case .level(let level): try save(level, of: book)
            case .lastSeen(let moment):
                try execute("UPDATE device SET last_seen = ? WHERE id = ?", [moment.milliseconds, book.row])
            case .lastSync(let moment):
                try execute("UPDATE device SET last_sync = ? WHERE id = ?", [moment.milliseconds, book.row])
            }
        }
        try keep(book, of: device)
    }

    func move(cursor: Timestamp, of metric: Metric, in book: inout DeviceBook) throws {
        var series = try series(metric, of: &book)
        series.cursor = cursor.milliseconds
        series.isChanged = true
        book.series[metric.place] = series
    }

    func save(_ level: AlertLevel, of book: DeviceBook) throws {
        try execute(
            """
            INSERT INTO alert_level(device, rule, active, since, value, measured_limit, last_id, raised_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(device, rule) DO UPDATE SET active = excluded.active, since = excluded.since,
                value = excluded.value, measured_limit = excluded.measured_limit, last_id = excluded.last_id,
                raised_at = excluded.raised_at
            """,
            [
                book.row, level.rule.name, level.isActive, level.since.milliseconds, level.value, level.limit,
                level.lastID?.description, level.raisedAt?.milliseconds,
            ])
    }

    /// Forgets a device's state. What belongs to its samples stays with them: their series, days, which days have to be
    /// summarised, and up to where `latest` was published.
    func forget(_ device: DeviceID) throws {
        guard
            let row = try Int64.fetchOne(
                database, sql: "SELECT id FROM device WHERE name = ?", arguments: [device.text])
        else { return }
        try execute(
            """
            UPDATE device SET known = 0, identity = NULL, capabilities = NULL, has_battery = 0, twin = NULL,
                last_seen = NULL, last_sync = NULL WHERE id = ?
            """, [row])
        try execute("UPDATE series SET cursor = NULL WHERE device = ?", [row])
        try execute("DELETE FROM alert_level WHERE device = ?", [row])
        books.devices[device] = nil
    }
}

extension SeriesBook {
    fileprivate init(row: Int64) { self.row = row }

    /// The book of a row of metric, id, high-water mark, cursor and the latest key's three parts.
    fileprivate init(_ values: Row) {
        row = values[1]
        highWater = values[2]
        cursor = values[3]
        latest = SampleKey(values, from: 4)
    }
}

extension SampleKey {
    /// How long the sample is, in milliseconds.
    var duration: Int64 { end.milliseconds &- start.milliseconds }

    /// The key of three columns: start, duration, whether user-initiated. `nil` where there is none.
    init?(_ row: Row, from index: Int) {
        guard let start = row[index] as Int64?, let duration = row[index + 1] as Int64? else { return nil }
        self.init(
            start: Timestamp(milliseconds: start), end: Timestamp(milliseconds: start &+ duration),
            isUserInitiated: row[index + 2] as Bool? ?? false)
    }
}
