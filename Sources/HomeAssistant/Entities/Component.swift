import Contract
import JSON

/// The kinds of entity used in discovery.
enum Platform: String, CaseIterable {
    case binarySensor = "binary_sensor"
    case button
    case event
    case number
    case sensor
    case `switch`
    case text
    case time
}

/// An entity of a discovery message.
struct Component {
    var platform: Platform
    /// Unique within its device.
    var key: String
    /// The name of the data point; Home Assistant prefixes the device's name.
    var name: String
    var category: Category?
    /// The topics that must all say `online`; none for an entity that itself shows availability.
    var availability: [String]
    /// One more availability topic, with a template that yields `online` while the entity has a value: for platforms
    /// without an unknown state.
    var presence: (topic: String, template: String)?
    /// Whether the entity is enabled by default. Home Assistant reads this only when it first sees the entity.
    var isEnabledByDefault = true
    /// The members specific to the platform.
    var members: [JSONValue.Member]

    /// The category of an entity that is not a measured value.
    enum Category: String { case config, diagnostic }

    init(
        _ platform: Platform, _ key: String, _ name: String, category: Category? = nil, isEnabledByDefault: Bool = true,
        availability: [String], _ members: [(String, JSONValue?)]
    ) {
        self.platform = platform
        self.key = key
        self.name = name
        self.category = category
        self.isEnabledByDefault = isEnabledByDefault
        self.availability = availability
        self.members = members.compactMap { key, value in value.map { JSONValue.Member(key, $0) } }
    }

    /// The entity's object. Each has its own `qos`, since at the root it would not apply to all platforms.
    func json(of node: String, withPlatform: Bool) -> JSONValue {
        var result: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) { result.append(JSONValue.Member(key, value)) }
        if withPlatform { add("platform", .string(platform.rawValue)) }
        add("unique_id", .string(uniqueID(of: node)))
        add("default_entity_id", .string(entityID(of: node)))
        add("name", .string(name))
        if let category { add("entity_category", .string(category.rawValue)) }
        if !isEnabledByDefault { add("enabled_by_default", false) }
        add("qos", 1)
        if !availability.isEmpty {
            var list = availability.map { Self.availability($0) }
            if let presence { list.append(Self.availability(presence.topic, template: presence.template)) }
            add("availability", .array(list))
            add("availability_mode", "all")
        }
        return .object(result + members)
    }

    /// One availability topic. The payloads are Home Assistant's defaults, but they are stated: while Home Assistant loads a
    /// platform for the first time, its validation of the messages that come then may leave out the defaults of this list, and
    /// the entity would be missing until its next announcement (seen with 2025.4: `KeyError: 'payload_available'`).
    private static func availability(_ topic: String, template: String? = nil) -> JSONValue {
        var members = [
            JSONValue.Member("topic", .string(topic)),
            JSONValue.Member("payload_available", .string(ContractEncoder.online)),
            JSONValue.Member("payload_not_available", .string(ContractEncoder.offline)),
        ]
        if let template { members.append(JSONValue.Member("value_template", .string(template))) }
        return .object(members)
    }

    /// The entity's name in its discovery topic or message. A time entity and the text entity it replaces share one
    /// message, so they need different names.
    func name(in mode: DiscoveryOptions.Mode) -> String {
        mode == .device && platform == .time ? "\(key)_time" : key
    }

    /// The `unique_id`, by which Home Assistant knows the entity, also a renamed one.
    func uniqueID(of node: String) -> String { "\(node)_\(key)" }

    /// The proposed id, in which hyphens become underscores.
    func entityID(of node: String) -> String {
        "\(platform.rawValue).\(String(uniqueID(of: node).map { $0 == "-" ? "_" : $0 }))"
    }
}
