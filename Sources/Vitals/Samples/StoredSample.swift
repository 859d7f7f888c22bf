/// A sample as the gateway keeps it: with its identity, its revision and when it arrived.
public struct StoredSample: Sendable, Hashable {
    /// The record of the device.
    public var sample: Sample
    /// The identity that consumers key on.
    public var id: SampleID
    /// The revision that is published, from 1: the device's own where it has one, else raised by each changed value.
    public var revision: Int
    /// When the gateway first received this revision.
    public var receivedAt: Timestamp

    /// A stored sample.
    public init(sample: Sample, id: SampleID, revision: Int, receivedAt: Timestamp) {
        self.sample = sample
        self.id = id
        self.revision = revision
        self.receivedAt = receivedAt
    }
}

/// How a sample reached the gateway. The raw value is its name on the wire.
public enum SampleSource: String, CaseIterable, Sendable, Hashable {
    /// The device sent it by itself.
    case live
    /// It was read from the device's history.
    case sync
    /// It comes from a measurement that was commanded.
    case measure
    /// A message that was published before is sent again.
    case replay
}
