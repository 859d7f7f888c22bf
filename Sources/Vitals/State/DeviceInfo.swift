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
