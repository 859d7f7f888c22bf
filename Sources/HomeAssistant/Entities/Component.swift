import JSON

/// The kinds of entity that are announced.
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

/// An entity as it is announced.
struct Component {
    var platform: Platform
    /// Unique within its device.
    var key: String
    /// The name of the data point; Home Assistant puts the device's name before it.
    var name: String
    var category: Category?
    /// The topics that must all say `online`; none for the entity that shows just that.
    var availability: [String]
    /// A further topic, with a template that gives `online` while the entity has a value at all: for platforms that
    /// cannot be unknown.
    var presence: (topic: String, template: String)?
    /// What the platform needs.
    var members: [JSONValue.Member]

    /// Where Home Assistant shows an entity that is no measured value.
    enum Category: String { case config, diagnostic }

    init(
        _ platform: Platform, _ key: String, _ name: String, category: Category? = nil, availability: [String],
        _ members: [(String, JSONValue?)]
    ) {
        self.platform = platform
        self.key = key
        self.name = name
        self.category = category
        self.availability = availability
        self.members = members.compactMap { key, value in value.map { JSONValue.Member(key, $0) } }
    }

    /// The entity's object. `qos` stands in every one, since at the root it would not hold for all platforms.
    func json(of node: String, withPlatform: Bool) -> JSONValue {
        var result: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) { result.append(JSONValue.Member(key, value)) }
        if withPlatform { add("platform", .string(platform.rawValue)) }
        add("unique_id", .string("\(node)_\(key)"))
        add("default_entity_id", .string("\(platform.rawValue).\(entityName(in: node))"))
        add("name", .string(name))
        if let category { add("entity_category", .string(category.rawValue)) }
        add("qos", 1)
        if !availability.isEmpty {
            var list: [JSONValue] = availability.map { ["topic": .string($0)] }
            if let presence {
                list.append(["topic": .string(presence.topic), "value_template": .string(presence.template)])
            }
            add("availability", .array(list))
            add("availability_mode", "all")
        }
        return .object(result + members)
    }

    /// What names it in the topic or the message that announces it. A time and the text that it replaces stand in one message.
    func name(in mode: DiscoveryOptions.Mode) -> String {
        mode == .device && platform == .time ? "\(key)_time" : key
    }

    /// An entity's identifier has no hyphens.
    private func entityName(in node: String) -> String {
        String("\(node)_\(key)".map { $0 == "-" ? "_" : $0 })
    }
}
