import GatewayKit
package import Vitals

/// Whose the samples of a store are, by a configuration.
package struct Household: Sendable {
    /// A device of the configuration.
    package struct Member: Sendable {
        package var id: DeviceID
        package var name: String
        package var wearers: Wearers
    }

    package var gateway: DeviceID
    package var calendar: LocalCalendar
    /// The file of the store.
    package var store: String
    package var devices: [Member]

    /// All names of persons, sorted.
    package var people: [String] {
        Set(devices.flatMap { [$0.wearers.person].compactMap(\.self) + $0.wearers.people.values }).sorted()
    }

    package init(gateway: DeviceID, calendar: LocalCalendar, store: String, devices: [Member]) {
        self.gateway = gateway
        self.calendar = calendar
        self.store = store
        self.devices = devices
    }
}

extension Household {
    private struct Entry {
        var path: String
        var value: ConfigurationValue
        var file: String?
    }

    /// Reads `gateway`, `store`, and who wears the devices. Nothing else is checked: a service's secrets are there only while it runs.
    init(_ root: ConfigurationValue, _ folder: DeviceFolder?, place: ConfigurationPlace) throws(ConfigurationError) {
        var reader = ConfigurationReader(root, place: place)
        let gateway = reader.section("gateway") { gateway in
            (
                id: gateway.deviceID("id", default: DeviceID(GatewayConfiguration.defaultID)),
                calendar: gateway.calendar("timezone")
            )
        }
        let store = reader.section("store") { StoreConfiguration(&$0) }
        var entries: [Entry] = []
        switch root["devices"]?.content {
        case .list(let values)?:
            for (index, value) in values.enumerated() { entries.append(Entry(path: "devices[\(index)]", value: value)) }
        case .map?: if let value = root["devices"] { entries.append(Entry(path: "devices", value: value)) }
        default: break
        }
        for part in folder?.parts ?? [] {
            for (path, value) in part.entries { entries.append(Entry(path: path, value: value, file: part.file)) }
        }
        if let problem = folder?.problem { reader.report(problem, at: DeviceFolder.key) }
        reader.adopt(folder?.issues ?? [])
        var (devices, issues): ([Member], [ConfigurationIssue]) = ([], reader.issues)
        for entry in entries {
            var place = place
            place.part = entry.file
            var reader = ConfigurationReader(entry.value, path: entry.path, place: place)
            let id = reader.deviceID("id")
            let name = reader.name("name")
            let wearers = reader.wearers().wearers
            issues += reader.issues
            if let id { devices.append(Member(id: id, name: name ?? id.text, wearers: wearers)) }
        }
        guard issues.isEmpty, let id = gateway.id else { throw ConfigurationError(issues: issues) }
        self.init(gateway: id, calendar: gateway.calendar, store: store.path, devices: devices)
    }
}
