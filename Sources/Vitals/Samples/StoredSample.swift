/// A sample as stored: with its id, its revision and its time of arrival.
public struct StoredSample: Sendable, Hashable {
    /// The device's record.
    public var sample: Sample
    /// The id that consumers use as key.
    public var id: SampleID
    /// The published revision, from 1 and at least the device's own; it increases with each correction.
    public var revision: Int
    /// When the gateway first received this revision.
    public var receivedAt: Timestamp
    /// Whether another record has replaced this one, which then counts nowhere.
    public var isWithdrawn: Bool

    /// A stored sample.
    public init(sample: Sample, id: SampleID, revision: Int, receivedAt: Timestamp, isWithdrawn: Bool = false) {
        self.sample = sample
        self.id = id
        self.revision = revision
        self.receivedAt = receivedAt
        self.isWithdrawn = isWithdrawn
    }
}

/// How a sample reached the gateway. The raw value is its name on the wire.
public enum SampleSource: String, CaseIterable, Sendable, Hashable {
    /// The device sent it unasked.
    case live
    /// It was read from the device's history.
    case sync
    /// It was measured for a command.
    case measure
    /// A published message was sent again.
    case replay
}
