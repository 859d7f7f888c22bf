/// The id of a sample: a UUID of version 5, always the same for the same record, however often it arrives.
///
/// It is computed from device, metric, start, end and whether a person started the measurement. Value and kind are not
/// part of it, so that a live sample and its copy in the device's history are one, and a corrected value keeps its id.
public struct SampleID: Sendable, Hashable {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes, most significant first.
    public let low: UInt64

    /// An id from its 16 bytes, as two big-endian halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
