import GatewayKit
import Vitals

/// An app that wrote records, by `application_info_table`. Each is a device of its own: they write the same steps, and an export does
/// not say in which order Health Connect prefers them.
struct App: Sendable, Hashable {
    /// Its number in this export.
    var number: Int64
    /// Its package, such as `com.fitbit.FitbitMobile`.
    var package: String
    var name: String?

    /// The table that every export has.
    private static let table = "application_info_table"

    /// All apps that the export names, also those without records.
    static func all(in database: ExportDatabase) throws(ExportError) -> [App] {
        guard let columns = database.tables[table], Set(columns).isSuperset(of: ["row_id", "package_name"]) else {
            throw ExportError(.foreign, "The file has no table \(table): it is no export of Health Connect.")
        }
        let statement = try database.statement(
            "SELECT row_id, package_name, \(columns.contains("app_name") ? "app_name" : "NULL") FROM \(table) ORDER BY row_id"
        )
        var found: [App] = []
        while try statement.step() {
            guard let package = statement.text(1), !package.isEmpty else { continue }
            let name = statement.text(2).flatMap { $0.isEmpty ? nil : $0 }
            found.append(App(number: statement.int64(0), package: package, name: name))
        }
        return found
    }

    /// The app with this package or name, or without one the only app that wrote records.
    static func named(_ wanted: String?, in database: ExportDatabase) throws(ExportError) -> App {
        let all = try all(in: database)
        if let wanted {
            if let app = all.first(where: { $0.package == wanted }) { return app }
            let named = all.filter { $0.name == wanted }
            if named.count == 1 { return named[0] }
        }
        var writers: [App] = []
        for app in all where try !RecordCatalogue(database, app: app.number, devices: nil).feeds.isEmpty {
            writers.append(app)
        }
        let known = writers.map(\.package).sorted().joined(separator: ", ")
        if let wanted {
            throw ExportError(
                .missing,
                "The export has no records of the app \(wanted). It has some of: \(known.isEmpty ? "none" : known).")
        }
        if writers.count == 1 { return writers[0] }
        throw ExportError(
            .missing,
            writers.isEmpty
                ? "The export has no records yet."
                : "The export has records of several apps: \(known). Set options.app to one of them.")
    }

    /// What the export has of it, from one of its devices or from all.
    func device(
        in database: ExportDatabase, named wanted: String?, order: SourceOrder
    ) throws(ExportError) -> ExportedDevice {
        let recorders = try Recorder.all(of: number, in: database)
        var chosen = recorders
        if let wanted {
            chosen = recorders.filter { $0.model == wanted || $0.name == wanted }
            guard !chosen.isEmpty else {
                let known = recorders.map(\.name).joined(separator: ", ")
                throw ExportError(
                    .missing,
                    "The app \(package) has no records of the device \(wanted). It has some of: \(known.isEmpty ? "none" : known)."
                )
            }
        }
        let origins =
            try wanted == nil ? RecorderOrigins(of: number, among: recorders, order: order, in: database) : nil
        let catalogue = try RecordCatalogue(
            database, app: number, devices: wanted == nil ? nil : chosen.map(\.number), origins: origins)
        // One recorder is the wearable; several are only known by the app.
        let identity =
            chosen.count == 1
            ? DeviceIdentity(manufacturer: chosen[0].manufacturer, model: chosen[0].model ?? name ?? package)
            : DeviceIdentity(model: name ?? package)
        var device = ExportedDevice(
            number: number, name: name ?? package, identity: identity, feeds: catalogue.feeds)
        device.options = [("app", package)] + (wanted.map { [("device", $0)] } ?? [])
        device.unknownTables = catalogue.unknownTables
        device.skippedRows = try UnattributedRecords.withoutTime(
            of: number, devices: wanted == nil ? nil : chosen.map(\.number), tables: catalogue.knownTables, in: database
        ).mapValues { [.withoutTime: $0] }
        if recorders.count > 1 {
            device.notes = ["Several devices recorded them: \(recorders.map(\.name).joined(separator: ", "))."]
        }
        if let note = origins?.note { device.notes.append(note) }
        return device
    }
}
