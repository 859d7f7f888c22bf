import Vitals

/// Records of an app by time, or the values of its series, each with its record. The export has no index by time, so the
/// rows get an order when they are looked up first.
struct Records: Sendable {
    /// The table of the values.
    let table: String
    private let order: String
    private let joins: String
    private let condition: String
    /// How a record came to be, in SQL; `NULL` where the export does not say.
    private let method: String
    /// The number of the device that recorded it, in SQL; `NULL` where the export does not say.
    private let device: String
    /// When the app changed a record, in SQL; `NULL` for series, whose values stay while their record grows.
    private let change: String
    /// Whose the records are; `nil` where it does not matter.
    var origins: RecorderOrigins?

    /// The records of a table from one of its columns on; `nil` if the export has none of this app.
    /// - Parameter devices: the numbers of the recorders that count; `nil` for all.
    init?(
        _ name: String, by time: String, with columns: Set<String>, of app: Int64, devices: [Int64]?,
        in database: ExportDatabase
    ) throws(ExportError) {
        guard let record = RecordTable(name, in: database, with: columns.union([time])),
            try record.hasRecords(of: app, in: database)
        else { return nil }
        try database.order(name, rows: "SELECT app_info_id, \(time), row_id FROM \(record.quoted)")
        self.init(
            table: name, record: record, joins: "CROSS JOIN \(record.quoted) AS r ON r.row_id = o.row",
            change: "r.last_modified_time", devices: devices)
    }

    /// The values of series; `nil` if the export has none of this app.
    /// - Parameters:
    ///   - child: the table of the values, with `parent_key` and `epoch_millis`, and its columns.
    ///   - parent: the table of the records, and its columns.
    init?(
        series child: (name: String, columns: Set<String>), of parent: (name: String, columns: Set<String>),
        of app: Int64,
        devices: [Int64]?, in database: ExportDatabase
    ) throws(ExportError) {
        guard let record = RecordTable(parent.name, in: database, with: parent.columns),
            let found = database.tables[child.name],
            Set(found).isSuperset(of: child.columns.union(["parent_key", "epoch_millis"])),
            try record.hasRecords(of: app, in: database)
        else { return nil }
        let values = "main.\(ExportDatabase.quoted(child.name))"
        try database.order(
            child.name,
            rows: """
                SELECT r.app_info_id, s.epoch_millis, s.rowid FROM \(values) AS s JOIN \(record.quoted) AS r
                ON r.row_id = s.parent_key
                """)
        self.init(
            table: child.name, record: record,
            joins: """
                CROSS JOIN \(values) AS s ON s.rowid = o.row CROSS JOIN \(record.quoted) AS r ON r.row_id = s.parent_key
                """, change: "NULL", devices: devices)
    }

    private init(table: String, record: RecordTable, joins: String, change: String, devices: [Int64]?) {
        self.table = table
        self.change = change
        order = "temp.\(ExportDatabase.quoted(table))"
        self.joins = joins
        let numbers = devices?.map { String($0) }.joined(separator: ", ")
        condition = numbers.map { "AND r.device_info_id IN (\($0))" } ?? ""
        method = record.columns.contains("recording_method") ? "r.recording_method" : "NULL"
        device = record.columns.contains("device_info_id") ? "r.device_info_id" : "NULL"
    }

    /// Selects the time of each row and then columns: of the record `r`, and of the value `s` of a series. The rows are those of the
    /// app `?1` from the time `?2` until before `?3`, ascending by time.
    /// - Parameter isSummed: whether the columns are sums over the rows of a device with the same time.
    func select(_ columns: [String], isSummed: Bool = false) -> String {
        let end = isSummed ? "GROUP BY 1, \(device) ORDER BY 1, \(device)" : "ORDER BY o.moment, o.row"
        return "SELECT \((["o.moment"] + columns).joined(separator: ", ")) \(rows) \(end)"
    }

    /// Selects one row of sums over the rows of the app `?1` from the time `?2` until before `?3`.
    func total(_ columns: [String]) -> String { "SELECT \(columns.joined(separator: ", ")) \(rows)" }

    private var rows: String {
        "FROM \(order) AS o \(joins) WHERE o.owner = ?1 AND o.moment >= ?2 AND o.moment < ?3 \(condition)"
    }

    /// A feed of these rows, or of their sums. `read` sees the columns by their places, and whether a person started the measurement.
    func feed(
        _ metric: Metric, _ columns: [String], isSummed: Bool = false,
        read: @escaping @Sendable (Row, _ isManual: Bool) -> RowResult
    ) -> RowFeed {
        // Of a sum that lost a record, none of the others says so. An export has all of them, so that the last one counts.
        let own = isSummed ? ["max(\(method))", device, "NULL"] : [method, device, change]
        return RowFeed(
            metric: metric, table: table, rank: .records, unit: .milliseconds,
            sql: select(columns + own, isSummed: isSummed)
        ) { [origins] row in
            let result = read(row, Self.isManual(row.integer(columns.count)))
            func attributed(_ sample: Sample) -> Sample {
                var sample = sample
                if let origins { sample.origin = origins.origin(of: row.integer(columns.count + 1)) }
                sample.changedAt = Self.change(row.integer(columns.count + 2))
                return sample
            }
            return switch result {
            case .sample(let sample): .sample(attributed(sample))
            case .nothing(let sample, let reason): .nothing(attributed(sample), reason)
            case .skipped, .irrelevant: result
            }
        }
    }

    /// The column that says how a record came to be.
    var methodColumn: String { method }
    /// The column with the number of the device that recorded it.
    var deviceColumn: String { device }
    /// The column that says when the app changed a record.
    var changeColumn: String { change }

    /// When the app changed a record, by its `last_modified_time` in milliseconds; `nil` if that is no time of a record.
    static func change(_ number: Int64?) -> Timestamp? {
        number.map { Timestamp(milliseconds: $0) }.flatMap { SampleLimits.moments.contains($0) ? $0 : nil }
    }

    /// Whether a person recorded it: 1 is recorded actively, 3 entered by hand; 0 is unknown and 2 automatic
    /// (`Metadata.RECORDING_METHOD_*` of Android).
    static func isManual(_ method: Int64?) -> Bool { method == 1 || method == 3 }
}

/// A table with records of all apps.
struct RecordTable: Sendable {
    let name: String
    let columns: Set<String>

    /// The columns that every table of records has.
    private static let common: Set<String> = ["row_id", "uuid", "app_info_id", "last_modified_time"]

    /// The table of this name; `nil` if the export has none with these columns.
    init?(_ name: String, in database: ExportDatabase, with needed: Set<String> = []) {
        guard let columns = database.tables[name].map({ Set($0) }),
            columns.isSuperset(of: needed.union(Self.common))
        else { return nil }
        self.name = name
        self.columns = columns
    }

    /// All of an export, by name.
    static func all(in database: ExportDatabase) -> [RecordTable] {
        database.tables.keys.sorted().compactMap { RecordTable($0, in: database) }
    }

    /// Its name within a statement.
    var quoted: String { "main.\(ExportDatabase.quoted(name))" }

    /// The column of the time from which on a record counts; `nil` if there is none.
    var timeColumn: String? { ["start_time", "time"].first { columns.contains($0) } }

    /// Whether an app has written records into it.
    func hasRecords(of app: Int64, in database: ExportDatabase) throws(ExportError) -> Bool {
        let statement = try database.statement("SELECT 1 FROM \(quoted) WHERE app_info_id = ?1 LIMIT 1")
        statement.bind(app)
        return try statement.step()
    }
}
