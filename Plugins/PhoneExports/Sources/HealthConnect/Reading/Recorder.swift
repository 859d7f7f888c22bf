/// A device that recorded for an app, by `device_info_table`.
struct Recorder: Sendable, Hashable {
    /// Its number in this export: a later device has a higher one.
    var number: Int64
    var manufacturer: String?
    var model: String?
    /// What it is, as a number of Android (`Device.DEVICE_TYPE_*`); 0 is unknown.
    var type: Int64 = 0

    /// Its name for people, and in the option `device`.
    var name: String {
        let parts = [manufacturer, model].compactMap { $0 }
        return parts.isEmpty ? "unknown" : parts.joined(separator: " ")
    }

    /// Those with records of an app, ascending by number.
    static func all(of app: Int64, in database: ExportDatabase) throws(ExportError) -> [Recorder] {
        guard let columns = database.tables["device_info_table"], columns.contains("row_id") else { return [] }
        func column(_ names: String...) -> String { names.first { columns.contains($0) } ?? "NULL" }
        var numbers: Set<Int64> = []
        for table in RecordTable.all(in: database) where table.columns.contains("device_info_id") {
            numbers.formUnion(try Self.numbers(in: table, of: app, database).compactMap { $0 })
        }
        let statement = try database.statement(
            """
            SELECT row_id, \(column("manufacturer")), \(column("model")), \(column("device_type", "type"))
            FROM device_info_table ORDER BY row_id
            """)
        var found: [Recorder] = []
        while try statement.step() {
            guard numbers.contains(statement.int64(0)) else { continue }
            func text(_ column: Int) -> String? { statement.text(column).flatMap { $0.isEmpty ? nil : $0 } }
            found.append(
                Recorder(
                    number: statement.int64(0), manufacturer: text(1), model: text(2),
                    type: statement.integer(3) ?? 0))
        }
        return found
    }

    /// The numbers of the devices with records of an app in a table; `nil` among them if records name none.
    static func numbers(
        in table: RecordTable, of app: Int64, _ database: ExportDatabase
    ) throws(ExportError) -> Set<Int64?> {
        let statement = try database.statement(
            "SELECT DISTINCT device_info_id FROM \(table.quoted) WHERE app_info_id = ?1")
        statement.bind(app)
        var numbers: Set<Int64?> = []
        while try statement.step() { numbers.insert(statement.integer(0)) }
        return numbers
    }
}

/// The one of an app's devices whose steps count. A watch and a phone in a pocket count the same ones, and both would be a sum.
///
/// It is the one that is worn most surely, and of several of a kind the newest. Neither depends on what they counted, so it
/// changes only when a better or a newer device comes for the first time, from whose first step on it counts.
struct CountingRecorder: Sendable {
    /// Its number.
    let number: Int64
    /// For a person: whose steps count, and whose do not.
    let note: String

    /// Kinds of devices by their numbers of Android, the surest first: watch, fitness band, ring, chest strap, and something on the
    /// head. A phone comes last, after those whose kind is unknown.
    private static let worn: [Int64] = [1, 6, 4, 7, 5]
    private static let phone: Int64 = 2

    private static func place(of recorder: Recorder) -> Int {
        worn.firstIndex(of: recorder.type) ?? (recorder.type == phone ? worn.count + 1 : worn.count)
    }

    /// `nil` where only one device counted steps.
    init?(of app: Int64, among recorders: [Recorder], in database: ExportDatabase) throws(ExportError) {
        guard let table = RecordTable(StepFeed.table, in: database, with: ["device_info_id"]) else { return nil }
        let numbers = try Recorder.numbers(in: table, of: app, database)
        let known = recorders.filter { numbers.contains($0.number) }
        let best = known.min { (Self.place(of: $0), -$0.number) < (Self.place(of: $1), -$1.number) }
        guard numbers.count > 1, let best else { return nil }
        number = best.number
        let others =
            known.filter { $0 != best }.map(\.name) + (numbers.count > known.count ? ["an unknown device"] : [])
        note =
            "Only the steps of \(best.name) count, since \(others.joined(separator: " and ")) may have counted the same ones. "
            + "options.device chooses another one, with all of its records."
    }
}
