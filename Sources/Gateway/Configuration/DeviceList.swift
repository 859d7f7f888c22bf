import Contract
import Engines
import GatewayKit
import HomeAssistant
import Vitals

/// Reads the devices of the configuration file and those of its folder as one list, with one check for what no two may share.
struct DeviceList {
    private let defaults: DevicePolicy
    private let plugins: PluginCatalogue
    private let areAnnounced: Bool
    /// Whether there is a folder for devices that are made.
    private let hasFolder: Bool
    private var topics: TakenTopics
    private var addresses = TakenAddresses()
    private var uniqueIDs = UniqueIDs()
    /// The topics by which devices are made, each with its template.
    private var captures: [(template: DeviceID, capture: MessageTemplate.Capture)] = []
    /// Whose a token is.
    private var tokens: [Secret: DeviceID] = [:]
    private var seen: [DeviceID: (part: String?, line: Int)] = [:]
    private var count = 0

    init(
        defaults: DevicePolicy, plugins: PluginCatalogue, areAnnounced: Bool, topics: TakenTopics, hasFolder: Bool
    ) {
        self.hasFolder = hasFolder
        self.defaults = defaults
        self.plugins = plugins
        self.areAnnounced = areAnnounced
        self.topics = topics
    }

    /// Reads the devices at a key of the configuration file.
    mutating func devices(_ key: String, of reader: inout ConfigurationReader) -> [DeviceConfiguration] {
        let list = reader.value(key)
        var sources: [ConfigurationValue] =
            switch list?.content {
            case .list(let values)?: values
            case .map?: [list].compactMap(\.self)
            default: []
            }
        sources.reverse()
        return reader.sections(key, limit: ConfigurationLimits.devices) { reader -> DeviceConfiguration? in
            device(&reader, sources.popLast() ?? ConfigurationValue(.null))
        }.compactMap(\.self)
    }

    /// Reads the devices of the folder at a key of the configuration file.
    mutating func devices(
        of folder: DeviceFolder?, _ key: String, _ reader: inout ConfigurationReader
    ) -> [DeviceConfiguration] {
        _ = reader.optionalString(key)
        reader.describe(
            key, "path of a folder",
            about: "More devices: one or a list in each file that ends with .yaml; `add --write` makes such files.")
        guard let folder else { return [] }
        if let problem = folder.problem { reader.report(problem, at: key) }
        reader.adopt(folder.issues)
        reader.adopt(warnings: folder.warnings)
        guard count + folder.parts.reduce(0, { $0 + $1.entries.count }) <= ConfigurationLimits.devices else {
            reader.report("With these files there are more than \(ConfigurationLimits.devices) devices.", at: key)
            return []
        }
        var place = reader.place
        return folder.parts.flatMap { part -> [DeviceConfiguration] in
            place.part = part.file
            return part.entries.compactMap { path, value -> DeviceConfiguration? in
                var entry = ConfigurationReader(value, path: path, place: place)
                let device = self.device(&entry, value)
                reader.adopt(&entry)
                return device
            }
        }
    }

    private mutating func device(
        _ reader: inout ConfigurationReader, _ source: ConfigurationValue
    ) -> DeviceConfiguration? {
        count += 1
        let id = reader.deviceID("id")
        // Reported even if the entry has other errors: the user gets all errors at once.
        if let id {
            if let other = seen[id] {
                let place = Self.text(of: other, beside: reader.place)
                reader.report("\(place) has the id \(id) already. Give each device its own.", at: "id")
            }
            seen[id] = (reader.place.part, reader.line(of: "id"))
            if areAnnounced, let other = uniqueIDs.add(id) {
                reader.report(
                    "Home Assistant could not distinguish the entities of \(id) and \(other). Choose another id, such "
                        + "as one with - instead of _.", at: "id")
            }
        }
        let device = DeviceConfiguration(&reader, id: id, source: source, defaults: defaults, plugins)
        for topic in device?.transport?.topics ?? [] {
            if let issue = topics.add(topic, of: id) { reader.report(issue, at: "transport") }
        }
        for topic in device?.messages?.topics ?? [] {
            if let issue = topics.issue(in: topic.subscription.text) { reader.report(issue, at: "options") }
        }
        if let device, let template = device.template { add(template, of: device.info.id, &reader) }
        for token in reader.tokens {
            if let other = tokens[token] {
                reader.warn(
                    "\(other) has the same token: each can send as the other. \(ConfigurationReader.tokenRemedy)",
                    at: "transport")
            }
            tokens[token] = id
        }
        if let transport = device?.transport, let issue = addresses.add(transport, of: id) {
            reader.report(issue, at: "transport")
        }
        return device
    }

    /// Checks what devices are made of: a message makes the device of one template only.
    private mutating func add(_ template: MessageTemplate, of id: DeviceID, _ reader: inout ConfigurationReader) {
        if !hasFolder {
            reader.report(
                "The devices of each_device need a folder for their files. Make one beside this file that the gateway may "
                    + "write, and add the line: \(DeviceFolder.key): devices.d", at: "options")
        }
        for key in ["person", "people"] where reader.has(key) {
            reader.warn("The devices of each_device get no person; write it into their files.", at: key)
        }
        for capture in template.captures {
            for (other, earlier) in captures where earlier.filter.overlaps(capture.filter) {
                let both = "\(capture.filter.text), and \(earlier.filter.text) of \(other)"
                if earlier.level != capture.level {
                    reader.warn(
                        "Some messages may be of both \(both): each makes a device of the latter only. Write narrower topics "
                            + "if there are such messages.", at: "options")
                } else if other != id {
                    reader.report(
                        "The same messages are of both \(both), and can make devices of one entry only. Write both topics, "
                            + "with their values, into one entry.", at: "options")
                }
            }
            captures.append((id, capture))
        }
    }

    /// Where another device is, for a message at this place.
    private static func text(of other: (part: String?, line: Int), beside place: ConfigurationPlace) -> String {
        if other.part == place.part { return "Line \(other.line)" }
        return (other.part ?? place.file).map { "\($0):\(other.line)" } ?? "Line \(other.line) of the configuration"
    }
}

/// Checks the addresses of devices: no two devices of a transport may have the same.
struct TakenAddresses {
    private struct Address: Hashable {
        let transport: String
        let text: String
    }

    private var devices: [Address: DeviceID] = [:]

    /// Takes the transport's address for a device. Returns what is wrong with it, with the remedy.
    mutating func add(_ transport: any Transport, of device: DeviceID?) -> String? {
        guard let text = transport.address else { return nil }
        let address = Address(transport: type(of: transport).name, text: text)
        if let other = devices[address] {
            return "The address \(text) is that of \(other) already. Give each device its own."
        }
        devices[address] = device
        return nil
    }
}

/// Checks the topics of devices whose documents come as messages: no two devices may share one.
struct TakenTopics {
    /// The gateway's; `nil` if its id is wrong.
    let own: ContractTopics?
    /// The prefix of Home Assistant's discovery, if it is used.
    let discoveryPrefix: String?
    private var devices: [String: DeviceID] = [:]

    init(own: ContractTopics?, discoveryPrefix: String?) {
        self.own = own
        self.discoveryPrefix = discoveryPrefix
    }

    /// What is wrong with a filter that devices may share, with the remedy.
    func issue(in filter: String) -> String? {
        guard let issue = own?.issue(inFilter: filter, discoveryPrefix: discoveryPrefix) else { return nil }
        return "The topic \(filter) \(issue). Write the topic of the publisher, such as zigbee2mqtt/scale."
    }

    /// Takes a topic for a device. Returns what is wrong with it, with the remedy.
    mutating func add(_ topic: String, of device: DeviceID?) -> String? {
        // A missing one is an error of the transport already.
        if topic.isEmpty { return nil }
        if let issue = own?.issue(inResponseTopic: topic, discoveryPrefix: discoveryPrefix) {
            return "The topic \(topic) \(issue). Choose one of the device's own, such as phones/anna."
        }
        if let other = devices[topic] {
            return "The topic \(topic) is that of \(other) already. Give each device its own."
        }
        devices[topic] = device
        return nil
    }
}
