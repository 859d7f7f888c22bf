/// An edge of an alert: it was raised or cleared.
public struct AlertEvent: Sendable, Hashable {
    /// The event's id.
    public var id: SampleID
    /// For a cleared edge, the id of the edge that raised the alert.
    public var raisedID: SampleID?
    /// The rule.
    public var rule: AlertRule
    /// Raised or cleared.
    public var edge: Edge
    /// The value that caused the edge, in the unit of the rule's metric.
    public var value: Double?
    /// The limit that was passed; of a device's alert only what the device says with its warning.
    public var limit: Double?
    /// The party that detected the edge.
    public var origin: Origin
    /// When the value was measured.
    public var measuredAt: Timestamp
    /// When the alert was raised, for a cleared edge, too.
    public var raisedAt: Timestamp
    /// The sample that caused the edge; `nil` if the device raised the alert itself.
    public var sampleID: SampleID?
    /// The user slot of that sample, if several people use the device.
    public var user: Int?
    /// Who has seen the alert that a raised edge of the history began; `nil` if nobody said so while it was active, and in events.
    public var acknowledgement: Acknowledgement?

    /// The kinds of edge.
    public enum Edge: String, Sendable, Hashable { case raised, cleared }
    /// The party that detected an edge: the device by its own limits, or the gateway.
    public enum Origin: String, Sendable, Hashable { case device, gateway }

    /// An edge.
    public init(
        id: SampleID, raisedID: SampleID? = nil, rule: AlertRule, edge: Edge, value: Double?, limit: Double?,
        origin: Origin, measuredAt: Timestamp, raisedAt: Timestamp, sampleID: SampleID?, user: Int? = nil,
        acknowledgement: Acknowledgement? = nil
    ) {
        self.id = id
        self.raisedID = raisedID
        self.rule = rule
        self.edge = edge
        self.value = value
        self.limit = limit
        self.origin = origin
        self.measuredAt = measuredAt
        self.raisedAt = raisedAt
        self.sampleID = sampleID
        self.user = user
        self.acknowledgement = acknowledgement
    }
}

/// The level of an alert rule: whether the alert is active.
public struct AlertLevel: Sendable, Hashable {
    /// The rule.
    public var rule: AlertRule
    /// Whether the alert is active.
    public var isActive: Bool
    /// Since when the level is unchanged.
    public var since: Timestamp
    /// The value that caused the level.
    public var value: Double?
    /// The limit that was passed.
    public var limit: Double?
    /// The event that caused the level; `nil` if the alert was never raised.
    public var lastID: SampleID?
    /// When the rule last raised an alert, active or not; `nil` if it never did.
    public var raisedAt: Timestamp?
    /// The user slot of the sample that caused the level, if several people use the device.
    public var user: Int?
    /// Who has seen the active alert; `nil` if nobody said so. Each edge begins without.
    public var acknowledgement: Acknowledgement?

    /// A rule's level.
    public init(
        rule: AlertRule, isActive: Bool, since: Timestamp, value: Double? = nil, limit: Double? = nil,
        lastID: SampleID? = nil, raisedAt: Timestamp? = nil, user: Int? = nil, acknowledgement: Acknowledgement? = nil
    ) {
        self.rule = rule
        self.isActive = isActive
        self.since = since
        self.value = value
        self.limit = limit
        self.lastID = lastID
        self.raisedAt = raisedAt
        self.user = user
        self.acknowledgement = acknowledgement
    }
}

/// That a person has seen an alert.
public struct Acknowledgement: Sendable, Hashable {
    /// The person's name: one line of 1 to `nameLength` code points, not only of spaces.
    public var person: String
    /// When the gateway took it.
    public var at: Timestamp

    /// The most code points of a name: as many characters as a name in the configuration may have.
    public static let nameLength = 128

    /// An acknowledgement.
    public init(by person: String, at moment: Timestamp) { (self.person, at) = (person, moment) }

    /// Whether a text can be the name of a person who acknowledges.
    public static func isName(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        return (1...nameLength).contains(scalars.count) && !scalars.allSatisfy(\.properties.isWhitespace)
            && !scalars.contains { notInLines.contains($0.properties.generalCategory) }
    }

    private static let notInLines: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
}
