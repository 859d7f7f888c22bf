import GatewayKit
import Vitals

/// Where keys belong that stand at a wrong place, by the keys that `config-reference` prints.
struct KeyPlaces {
    /// The most places that are named: of more, such as those of `name`, none is probable.
    static let maximumPlaces = 3

    /// The maps that have a key, as the reference names them.
    private let maps: [String: [String]]

    /// The places of all keys of a gateway with these plugins.
    init(_ plugins: PluginCatalogue) {
        self.init(paths: ConfigurationReference(plugins).sections.flatMap(\.keys).map(\.path))
    }

    /// The places of the keys with these paths.
    init(paths: [String]) {
        var maps: [String: [String]] = [:]
        for path in paths {
            let parts = path.split(separator: ".")
            guard let name = parts.last else { continue }
            maps[String(name), default: []].append(parts.dropLast().joined(separator: "."))
        }
        self.maps = maps
    }

    /// The issue, with the place of its key in the configuration if another one has it. `root` is what its file has.
    func completed(_ issue: ConfigurationIssue, in root: ConfigurationValue) -> ConfigurationIssue {
        // What a metric can have is different at each of its places.
        guard let key = issue.strangeKey, let found = maps[key],
            !Metric.allCases.contains(where: { $0.rawValue == key })
        else { return issue }
        let device = Device(at: issue.path, in: root, isPart: issue.file != nil)
        let places = found.compactMap { Self.place($0, beside: device) }
        let nearest = places.map { $0.rank }.min()
        let texts = Set(places.filter { $0.rank == nearest }.map { $0.text }).sorted()
        guard !texts.isEmpty, texts.count <= Self.maximumPlaces else { return issue }
        var issue = issue
        issue.message = "There is no such key. It belongs \(texts.joined(separator: ", or "))."
        return issue
    }

    /// The entry of `devices:`, or of a file of `devices_from`, in which a key stands.
    private struct Device {
        var driver: String?
        var transport: String?

        /// `nil` if the path is of no device.
        init?(at path: String, in root: ConfigurationValue, isPart: Bool) {
            let match = path.prefixMatch(of: isPart ? /\[([0-9]+)\]/ : /devices\[([0-9]+)\]/)
            guard isPart || match != nil else { return nil }
            let list = isPart ? root : root["devices"]
            let index = match.flatMap { Int($0.1) } ?? 0
            let entry: ConfigurationValue? =
                switch list?.content {
                case .list(let entries)? where entries.indices.contains(index): entries[index]
                default: list
                }
            driver = Self.text(entry?["driver"])
            transport = Self.text(entry?["transport"]?["type"])
        }

        private static func text(_ value: ConfigurationValue?) -> String? {
            if case .scalar(let text, _)? = value?.content { text } else { nil }
        }
    }

    /// The sections of the gateway that each device can have of its own.
    private static let ownSections: Set = ["sync", "alerts", "fresh_for"]

    /// How a person finds a map, and how near it is; `nil` if it is of other devices.
    private static func place(_ map: String, beside device: Device?) -> (rank: Int, text: String)? {
        let name = map.replacing("[]", with: "")
        if let match = map.wholeMatch(of: /(options|transport) \(([^)]+)\)(.*)/) {
            guard let device else { return nil }
            let isOptions = match.1 == "options"
            let own = isOptions ? device.driver : device.transport
            // Without a type it may become this transport.
            guard own == String(match.2) || !isOptions && own == nil else { return nil }
            return (rank: own == nil ? 1 : 0, text: "under \(match.1)\(match.3)")
        }
        if map.isEmpty { return (rank: 1, text: "at the top level, beside devices") }
        if map == "devices[]" {
            if device == nil { return (rank: 2, text: "in an entry of devices") }
            return (rank: 0, text: "in the device's entry, beside id")
        }
        if name.hasPrefix("devices.") {
            if device == nil { return (rank: 2, text: "under \(name)") }
            return (rank: 0, text: "under \(name.dropFirst("devices.".count))")
        }
        let isOwn = device != nil && ownSections.contains(String(name.prefix { $0 != "." }))
        return (rank: isOwn ? 0 : device == nil ? 1 : 2, text: "under \(name)")
    }
}
