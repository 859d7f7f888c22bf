/// An edge of an alert: it was raised, or it was cleared.
public struct AlertEvent: Sendable, Hashable {
    /// The event's own identity.
    public var id: SampleID
    /// Of a cleared edge, the identity of the edge that raised it.
    public var raisedID: SampleID?
    /// The rule that it is about.
    public var rule: AlertRule
    /// Raised or cleared.
    public var edge: Edge
    /// The value that made the edge, in the unit of the rule's metric.
    public var value: Double?
    /// The limit that was passed; `nil` where the device raised the alert itself.
    public var limit: Double?
    /// Who noticed.
    public var origin: Origin
    /// When the value was measured.
    public var measuredAt: Timestamp
    /// When the alert was raised, also for a cleared edge.
    public var raisedAt: Timestamp
    /// The sample that made the edge; `nil` where the device raised the alert itself.
    public var sampleID: SampleID?
    /// The user slot of that sample, of a device that several people use.
    public var user: Int?

    /// Which edge.
    public enum Edge: String, Sendable, Hashable { case raised, cleared }
    /// Who noticed: the device by its own limits, or the gateway.
    public enum Origin: String, Sendable, Hashable { case device, gateway }

    /// An edge.
    public init(
        id: SampleID, raisedID: SampleID? = nil, rule: AlertRule, edge: Edge, value: Double?, limit: Double?,
        origin: Origin, measuredAt: Timestamp, raisedAt: Timestamp, sampleID: SampleID?, user: Int? = nil
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
    }
}

/// The level of an alert rule: whether the alert is active.
public struct AlertLevel: Sendable, Hashable {
    /// The rule.
    public var rule: AlertRule
    /// Whether the alert is active.
    public var isActive: Bool
    /// Since when the level is what it is.
    public var since: Timestamp
    /// The value that made it so.
    public var value: Double?
    /// The limit that was passed.
    public var limit: Double?
    /// The event that made it so; `nil` where it was never raised.
    public var lastID: SampleID?
    /// When the rule last raised an alert, whether it is active or not; `nil` where it never did.
    public var raisedAt: Timestamp?

    /// A rule's level.
    public init(
        rule: AlertRule, isActive: Bool, since: Timestamp, value: Double? = nil, limit: Double? = nil,
        lastID: SampleID? = nil, raisedAt: Timestamp? = nil
    ) {
        self.rule = rule
        self.isActive = isActive
        self.since = since
        self.value = value
        self.limit = limit
        self.lastID = lastID
        self.raisedAt = raisedAt
    }
}
