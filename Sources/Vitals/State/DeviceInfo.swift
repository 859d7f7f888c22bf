/// A device as consumers see it in `info`: what the configuration says and what the device said when it was last seen.
package struct DeviceInfo: Sendable, Hashable {
    package var id: DeviceID
    package var name: String
    /// The person who wears it: whom samples without a user slot are about.
    package var person: String?
    /// The people of a device that several use, by the device's user slot: whom samples with one are about.
    package var people: [Int: String]
    package var driver: String
    package var transport: String?
    /// What the device said; `nil` until it was connected for the first time.
    package var identity: DeviceIdentity?
    package var capabilities: Capabilities?
    /// Whether the device ever told its battery.
    package var hasBattery: Bool
    /// How long a value of a metric is fresh, as it is configured; a metric that is not named is fresh without end.
    package var freshness: [Metric: Duration]

    package init(
        id: DeviceID, name: String, person: String? = nil, people: [Int: String] = [:], driver: String,
        transport: String? = nil, identity: DeviceIdentity? = nil, capabilities: Capabilities? = nil,
        hasBattery: Bool = false, freshness: [Metric: Duration] = [:]
    ) {
        self.id = id
        self.name = name
        self.person = person
        self.people = people
        self.driver = driver
        self.transport = transport
        self.identity = identity
        self.capabilities = capabilities
        self.hasBattery = hasBattery
        self.freshness = freshness
    }

    /// Whom a sample of this user slot is about. A slot that nobody was given is nobody's: a guest's values must not count
    /// as those of the owner.
    package func person(user: Int?) -> String? {
        if let user { people[user] } else { person }
    }
}
