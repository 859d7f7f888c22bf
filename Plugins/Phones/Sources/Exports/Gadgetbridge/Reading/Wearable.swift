import Vitals

/// A wearable of an export, by the tables DEVICE and DEVICE_ATTRIBUTES.
struct Wearable: Sendable, Hashable {
    /// Its number in this export.
    var number: Int64
    var name: String
    var alias: String?
    var address: String
    var manufacturer: String?
    var model: String?
    /// The app's name for its type, such as `MIBAND8`; missing in old exports.
    var typeName: String?

    /// All wearables of an export.
    static func all(in database: ExportDatabase) throws(ExportError) -> [Wearable] {
        guard let columns = database.tables["DEVICE"], Set(columns).isSuperset(of: ["_id", "NAME", "IDENTIFIER"]) else {
            throw ExportError(.foreign, "The file has no table DEVICE: it is no export of Gadgetbridge.")
        }
        func column(_ name: String) -> String { columns.contains(name) ? name : "NULL" }
        let statement = try database.statement(
            """
            SELECT _id, NAME, IDENTIFIER, \(column("ALIAS")), \(column("MANUFACTURER")), \(column("MODEL")),
                \(column("TYPE_NAME"))
            FROM DEVICE ORDER BY _id
            """)
        var found: [Wearable] = []
        while try statement.step() {
            func text(_ column: Int) -> String? { statement.text(column).flatMap { $0.isEmpty ? nil : $0 } }
            found.append(
                Wearable(
                    number: statement.int64(0), name: text(1) ?? "", alias: text(3), address: text(2) ?? "",
                    manufacturer: text(4), model: text(5) ?? text(6), typeName: text(6)))
        }
        return found
    }

    /// The wearable with this address, alias or name, or without one the only wearable.
    static func named(_ wanted: String?, in database: ExportDatabase) throws(ExportError) -> Wearable {
        let all = try all(in: database)
        let known = all.map { $0.alias ?? $0.name }.joined(separator: ", ")
        guard let wanted else {
            if all.count == 1 { return all[0] }
            // One that was only paired once has no data.
            var used: [Wearable] = []
            for wearable in all where try !Catalogue(database, device: wearable.number).feeds.isEmpty {
                used.append(wearable)
            }
            if used.count == 1 { return used[0] }
            throw ExportError(
                .missing,
                all.isEmpty
                    ? "The export has no wearable yet."
                    : "The export has several wearables: \(known). Set options.device to the address, alias or name of one."
            )
        }
        let ways: [(Wearable) -> Bool] = [
            { $0.address.lowercased() == wanted.lowercased() }, { $0.alias == wanted }, { $0.name == wanted },
        ]
        for matches in ways {
            let found = all.filter(matches)
            if found.count == 1 { return found[0] }
            if found.count > 1 {
                throw ExportError(.missing, "The export has several wearables named \(wanted). Use the address of one.")
            }
        }
        throw ExportError(.missing, "The export has no wearable \(wanted). It has: \(known).")
    }

    /// What the export has of it.
    /// - Parameter temperature: what temperatures are of that have neither a kind nor a place.
    func device(
        in database: ExportDatabase, temperature: UnspecifiedTemperature? = nil
    ) throws(ExportError) -> ExportedDevice {
        let catalogue = try Catalogue(database, device: number, temperature: temperature)
        var device = ExportedDevice(
            number: number, name: alias ?? name, identity: try identity(in: database), feeds: catalogue.feeds)
        let choice = [address, alias ?? "", name].first { !$0.isEmpty }
        if let choice {
            device.options = [("device", choice)]
        } else {
            device.remark =
                "It has neither an address nor a name: it can be read only if it is the export's only wearable with records."
        }
        if let temperature { device.options.append(("temperature", temperature.rawValue)) }
        device.family = Family.name(of: catalogue.tables) ?? typeName
        device.battery = try battery(in: database)
        device.unknownTables = catalogue.unknownTables
        device.skippedRows = catalogue.withoutTime.mapValues { [.withoutTime: $0] }
        return device
    }

    /// Whether a text is a version, such as `V0.11.19.5`.
    private static func isVersion(_ text: String) -> Bool {
        text.wholeMatch(of: /[Vv]?[0-9]+(\.[0-9]+)+/) != nil
    }

    /// What it says of itself, with its present firmware.
    private func identity(in database: ExportDatabase) throws(ExportError) -> DeviceIdentity {
        var identity = DeviceIdentity(manufacturer: manufacturer, model: model ?? name)
        // Of some wearables the app keeps the hardware's version as the model.
        if let version = model, Self.isVersion(version) {
            (identity.model, identity.hardware) = (typeName ?? name, version)
        }
        guard let columns = database.tables["DEVICE_ATTRIBUTES"],
            Set(columns).isSuperset(of: ["DEVICE_ID", "FIRMWARE_VERSION1", "VALID_FROM_UTC"])
        else { return identity }
        let statement = try database.statement(
            """
            SELECT FIRMWARE_VERSION1 FROM DEVICE_ATTRIBUTES WHERE DEVICE_ID = ?1
            ORDER BY \(columns.contains("VALID_TO_UTC") ? "VALID_TO_UTC IS NULL DESC," : "") VALID_FROM_UTC DESC LIMIT 1
            """)
        statement.bind(number)
        if try statement.step() { identity.firmware = statement.text(0).flatMap { $0.isEmpty ? nil : $0 } }
        return identity
    }

    /// The newest charge of its first battery; `nil` without one.
    private func battery(in database: ExportDatabase) throws(ExportError) -> ExportedDevice.Charge? {
        guard let columns = database.tables["BATTERY_LEVEL"],
            Set(columns).isSuperset(of: ["TIMESTAMP", "DEVICE_ID", "LEVEL"])
        else { return nil }
        let first = columns.contains("BATTERY_INDEX") ? "AND BATTERY_INDEX = 0" : ""
        let statement = try database.statement(
            """
            SELECT TIMESTAMP, LEVEL FROM BATTERY_LEVEL WHERE DEVICE_ID = ?1 AND LEVEL BETWEEN 0 AND 100 \(first)
            AND (TIMESTAMP >= ?2 AND TIMESTAMP < ?3 OR TIMESTAMP >= ?4 AND TIMESTAMP < ?5)
            ORDER BY TIMESTAMP DESC LIMIT 1
            """)
        let (seconds, milliseconds) = (TimeUnit.seconds.usable, TimeUnit.milliseconds.usable)
        statement.bind(
            number, seconds.lowerBound, seconds.upperBound, milliseconds.lowerBound, milliseconds.upperBound)
        guard try statement.step(), let level = statement.number(1) else { return nil }
        let time = statement.int64(0)
        return ExportedDevice.Charge(percent: level, at: TimeUnit(of: time).moment(time))
    }
}

/// The families of wearables that have tables of their own, by the names and in the order of the README.
enum Family {
    static let all: [(prefix: String, name: String)] = [
        ("MI_BAND_", "Huami, Amazfit with Mi Band protocol"), ("HUAMI_", "Huami, Zepp OS"), ("XIAOMI_", "Xiaomi"),
        ("GARMIN_", "Garmin"), ("HUAWEI_", "Huawei, Honor"), ("COLMI_", "Colmi, Yawell"), ("CMF_", "CMF"),
        ("MOYOUNG_", "Moyoung"), ("WITHINGS_", "Withings"), ("LEFUN_", "Lefun"), ("PEBBLE_", "Pebble"),
    ]

    /// The family of a wearable with rows in these tables; `nil` if they may be any wearable's.
    ///
    /// A wearable keeps its minutes in one table, which decides: a Mi Band has the records of its measurements in the tables of Zepp OS.
    /// Where minutes say nothing, or are those of several families, all of the families are named.
    static func name(of tables: Set<String>) -> String? {
        let minutes = names(of: tables.filter { Table.isActivity($0) })
        let found = minutes.isEmpty ? names(of: tables) : minutes
        return found.isEmpty ? nil : found.joined(separator: "; ")
    }

    private static func names(of tables: Set<String>) -> [String] {
        all.filter { family in tables.contains { $0.hasPrefix(family.prefix) } }.map(\.name)
    }
}
