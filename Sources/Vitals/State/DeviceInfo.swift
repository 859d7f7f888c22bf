/// A device as published in `info`: from the configuration and from its last connection.
package struct DeviceInfo: Sendable, Hashable {
    package var id: DeviceID
    package var name: String
    /// The wearer: the person of samples without a user slot.
    package var person: String?
    /// The people who share the device, by the device's user slot: the persons of samples with a slot.
    package var people: [Int: String]
    package var driver: String
    package var transport: String?
    /// What the device said; `nil` before its first connection.
    package var identity: DeviceIdentity?
    package var capabilities: Capabilities?
    /// What the device has ever reported beside samples.
    package var features: DeviceFeatures
    /// Whether a person may be asked for the device's passkey.
    package var asksForPasskey = false
    /// Whether several persons use it, and somebody may be asked whose a sample is.
    package var asksWhose = false
    /// The configured time for which a metric's value is fresh; a metric without entry is always fresh.
    package var freshness: [Metric: Duration]

    package init(
        id: DeviceID, name: String, person: String? = nil, people: [Int: String] = [:], driver: String,
        transport: String? = nil, identity: DeviceIdentity? = nil, capabilities: Capabilities? = nil,
        features: DeviceFeatures = [], freshness: [Metric: Duration] = [:]
    ) {
        self.id = id
        self.name = name
        self.person = person
        self.people = people
        self.driver = driver
        self.transport = transport
        self.identity = identity
        self.capabilities = capabilities
        self.features = features
        self.freshness = freshness
    }

    /// Whose the device's samples are.
    package var wearers: Wearers { Wearers(person: person, people: people) }

    /// The person of a sample with this user slot.
    package func person(user: Int?) -> String? { wearers.person(user: user) }
}

/// A device's names and numbers by its own account; `nil` for those it does not give.
public struct DeviceIdentity: Sendable, Hashable {
    /// The manufacturer.
    public var manufacturer: String?
    /// The model's name.
    public var model: String?
    /// The serial number.
    public var serial: String?
    /// The firmware version.
    public var firmware: String?
    /// The hardware revision.
    public var hardware: String?

    /// A device's identity.
    public init(
        manufacturer: String? = nil, model: String? = nil, serial: String? = nil, firmware: String? = nil,
        hardware: String? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.serial = serial
        self.firmware = firmware
        self.hardware = hardware
    }
}

/// The states that a device may report beside samples. Home Assistant gets an entity for each that a device has reported once.
/// The store keeps them: otherwise these entities would vanish with each restart of the gateway until the device reports again.
package struct DeviceFeatures: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The charge of its battery.
    package static let battery = DeviceFeatures(rawValue: 1 << 0)
    /// Whether it is worn.
    package static let worn = DeviceFeatures(rawValue: 1 << 1)
    /// Whether it is being charged.
    package static let charging = DeviceFeatures(rawValue: 1 << 2)
    /// The strength of its radio signal.
    package static let signal = DeviceFeatures(rawValue: 1 << 3)

    package static let all: DeviceFeatures = [.battery, .worn, .charging, .signal]
}

/// The people whom a device's samples belong to, by its configuration.
package struct Wearers: Sendable, Hashable {
    /// The person of samples without a user slot.
    package var person: String?
    /// The persons of samples with a user slot.
    package var people: [Int: String]

    /// The wearers of a device; by default it has no named one.
    package init(person: String? = nil, people: [Int: String] = [:]) {
        self.person = person
        self.people = people
    }

    /// The person of a sample with this user slot. An unassigned slot has no person: a guest's values must not
    /// count as the owner's.
    package func person(user: Int?) -> String? {
        if let user { people[user] } else { person }
    }

    /// Whether two user slots, or a slot and none, stand for the same person. Two slots without a name do not.
    package func areSame(_ user: Int?, _ other: Int?) -> Bool {
        guard user != other else { return true }
        guard let name = person(user: user) else { return false }
        return name == person(user: other)
    }
}
