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
