import GatewayKit
import HomeAssistant
import JSON
package import Vitals

/// A device that is to be configured, and its entry of `devices:`.
package struct NewDevice: Sendable, Hashable {
    package var id: String
    package var name: String
    package var driver: String
    /// The keys of `transport:`, with `type` first. A key such as `passkey.file` is one of a map.
    package var transport: [ScanReport.Option]
    /// The keys of `options:`, in the same form. A value in brackets, such as `[a, b]`, is a list.
    package var options: [ScanReport.Option]
    /// Who wears it; `nil` for nobody in particular.
    package var person: String?
    /// How long values are fresh where a device of a driver sends them more often than the metric's default expects: what a sensor under
    /// the skin measured must not stand there as the present glucose when it is silent for a quarter of an hour.
    private static let freshness: [String: JSONValue] = ["nightscout": ["blood_glucose": "15m"]]
    /// Further keys of the entry.
    private var further: [JSONValue.Member] = []

    package init(
        id: String, name: String, driver: String, transport: [ScanReport.Option], options: [ScanReport.Option] = []
    ) {
        self.id = id
        self.name = name
        self.driver = driver
        self.transport = transport
        self.options = options
    }

    /// A device like a template, for a part that one of its topics captured. Whose it is nobody has said.
    init(id: DeviceID, part: String, like template: DeviceConfiguration) {
        self.init(id: id.text, name: part, driver: template.info.driver, transport: [])
        guard case .object(let members) = Self.json(template.source) else { return }
        further = members.filter { !["id", "name", "driver", "person", "people"].contains($0.key) }.map { member in
            guard member.key == "options", case .object(let options) = member.value else { return member }
            let own = JSONValue.Member(MessageTemplate.part, .string(part))
            return JSONValue.Member(
                member.key, .object([own] + options.filter { !MessageTemplate.options.contains($0.key) }))
        }
    }

    /// The entry in YAML, with its indentation below `devices:`.
    package var entry: String {
        let text = (try? YAMLText.of(.array([value]))) ?? ""
        return text.split(separator: "\n").map { "  \($0)\n" }.joined()
    }

    /// The entry in YAML, as a document of its own.
    var document: String { (try? YAMLText.of(value)) ?? "" }

    /// What is wrong with it, each with what would be right; none if the gateway takes the entry.
    /// - Parameters:
    ///   - devices: the ids of the configuration that it joins.
    ///   - directory: the base of relative paths.
    package func issues(
        with plugins: PluginCatalogue, beside devices: [DeviceID], directory: String
    ) -> [String] {
        var issues: [String] = []
        if let id = DeviceID(id) {
            var taken = UniqueIDs()
            for device in devices { _ = taken.add(device) }
            if devices.contains(id) {
                issues.append(
                    "id: The configuration has the id \(id) already. Give each device its own, or replace its file by "
                        + "--write --replace on the command line.")
            } else if let other = taken.add(id) {
                issues.append("id: Home Assistant could not distinguish the entities of \(id) and \(other).")
            }
        }
        let configuration: JSONValue = [
            "mqtt": ["url": "mqtt://127.0.0.1"], "store": ["path": "vitals.sqlite"], "devices": .array([value]),
        ]
        do {
            let text = try YAMLText.of(configuration)
            _ = try ConfigurationLoader(plugins: plugins).load(text: text, directory: directory)
        } catch let error as ConfigurationError {
            let place = "devices[0]"
            // One without a path is of the whole text.
            issues += error.issues.filter { $0.path.isEmpty || $0.path.hasPrefix(place) }.map { issue in
                let path = issue.path.dropFirst(place.count).drop { $0 == "." }
                return path.isEmpty ? issue.message : "\(path): \(issue.message)"
            }
        } catch { issues.append("\(error)") }
        return issues
    }

    private var value: JSONValue {
        var members: [JSONValue.Member] = [
            JSONValue.Member("id", .string(id)), JSONValue.Member("name", .string(name)),
            JSONValue.Member("driver", .string(driver)),
        ]
        if let person { members.append(JSONValue.Member("person", .string(person))) }
        if !transport.isEmpty { members.append(JSONValue.Member("transport", Self.map(transport))) }
        if !options.isEmpty { members.append(JSONValue.Member("options", Self.map(options))) }
        if let fresh = Self.freshness[driver], !further.contains(where: { $0.key == "fresh_for" }) {
            members.append(JSONValue.Member("fresh_for", fresh))
        }
        return .object(members + further)
    }

    private static func map(_ options: [ScanReport.Option]) -> JSONValue {
        var members: [JSONValue.Member] = []
        for option in options {
            guard let dot = option.key.firstIndex(of: ".") else {
                members.append(JSONValue.Member(option.key, value(of: option.value)))
                continue
            }
            let name = String(option.key[..<dot])
            guard !members.contains(where: { $0.key == name }) else { continue }
            let inner = options.filter { $0.key.hasPrefix("\(name).") }
                .map { ScanReport.Option(String($0.key.dropFirst(name.count + 1)), $0.value) }
            members.append(JSONValue.Member(name, map(inner)))
        }
        return .object(members)
    }

    /// A list in brackets, as in YAML, or else a scalar.
    private static func value(of text: String) -> JSONValue {
        guard text.hasPrefix("["), text.hasSuffix("]"), let list = try? YAMLDocument(text).root else {
            return scalar(text)
        }
        return json(list)
    }

    private static func json(_ value: ConfigurationValue) -> JSONValue {
        switch value.content {
        case .scalar(let text, let isQuoted): isQuoted ? .string(text) : scalar(text)
        case .list(let values): .array(values.map { json($0) })
        case .map(let members): .object(members.map { JSONValue.Member($0.key.text, json($0.value)) })
        case .null: .null
        }
    }

    /// Numbers and truths are no texts in YAML.
    private static func scalar(_ text: String) -> JSONValue {
        switch text {
        case "true": true
        case "false": false
        default:
            Int(text).map { String($0) == text ? .number(Double($0)) : .string(text) } ?? .string(text)
        }
    }

    /// An id of a name: small letters and digits, with `-` for the rest, and a number if it is taken.
    package static func suggestedID(for name: String, beside devices: [DeviceID]) -> String {
        let words = name.lowercased().split { !(("a"..."z").contains($0) || ("0"..."9").contains($0)) }
        let text = String(words.joined(separator: "-").prefix(40))
        let wish = DeviceID(text).map(\.text).flatMap { $0 == DeviceID.reserved ? nil : $0 } ?? "device"
        let taken = Set(devices.map(\.text))
        var id = wish
        var number = 2
        while taken.contains(id) {
            id = "\(wish)-\(number)"
            number += 1
        }
        return id
    }
}
