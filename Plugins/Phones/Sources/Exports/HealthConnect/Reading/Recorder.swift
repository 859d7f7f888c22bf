import GatewayKit
import Vitals

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

/// Whose the records of an app are, by the devices that have recorded them. A watch and a phone in a pocket count the same steps and metres.
struct RecorderOrigins: Sendable {
    private let origins: [Int64: SampleOrigin]
    /// For a person: whose counts are taken first; `nil` where only one device counted any.
    let note: String?

    /// `nil` where no record says which device it is of.
    init?(
        of app: Int64, among recorders: [Recorder], order: SourceOrder, in database: ExportDatabase
    ) throws(ExportError) {
        var counting: Set<Int64?> = []
        for name in Set(CountKind.all.map(\.table)) {
            guard let table = RecordTable(name, in: database, with: ["device_info_id"]) else { continue }
            counting.formUnion(try Recorder.numbers(in: table, of: app, database))
        }
        // Also where there is one, since a second one may come with a later export.
        guard !recorders.isEmpty else { return nil }
        var origins: [Int64: SampleOrigin] = [:]
        for recorder in recorders {
            let kind = SourceOrder.Kind(type: recorder.type, name: recorder.name)
            origins[recorder.number] = order.origin(
                of: recorder.name, kind, otherNames: recorder.model.map { [$0] } ?? [])
        }
        self.origins = origins
        guard counting.count > 1 else {
            note = nil
            return
        }
        let known = recorders.filter { counting.contains($0.number) }.compactMap { origins[$0.number] }
        let names = Set(known).sorted { $0.precedes($1) }.map(\.name)
        let others = counting.count > known.count ? ["an unknown device"] : []
        note =
            "Of what several count in the same time, the first of these counts: \((names + others).joined(separator: ", ")). "
            + "options.sources gives another order; options.device chooses one of them, with all of its records."
    }

    /// The source of a record that has this number of a device.
    func origin(of device: Int64?) -> SampleOrigin { device.flatMap { origins[$0] } ?? SourceOrder.nameless }
}
