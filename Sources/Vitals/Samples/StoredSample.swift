/// A sample as stored: with its id, its revision and its time of arrival.
public struct StoredSample: Sendable {
    /// Where the id comes from. Most samples are counted and stored without anybody asking for their id, and making it takes
    /// longer than reading the sample.
    private enum Origin: Sendable {
        case id(SampleID)
        case device(DeviceID)
    }

    /// The device's record.
    public var sample: Sample
    private var origin: Origin
    /// The published revision, from 1 and at least the device's own; it increases with each correction.
    public var revision: Int
    /// When the gateway first received this revision.
    public var receivedAt: Timestamp
    /// Whether another record has replaced this one, which then counts nowhere.
    public var isWithdrawn: Bool

    /// The id that consumers use as key. If the sample was created with its device, each call computes the id from `sample`.
    public var id: SampleID {
        switch origin {
        case .id(let id): id
        case .device(let device): SampleID(device: device, sample: sample)
        }
    }

    /// A stored sample.
    public init(sample: Sample, id: SampleID, revision: Int, receivedAt: Timestamp, isWithdrawn: Bool = false) {
        self.init(sample, .id(id), revision, receivedAt, isWithdrawn)
    }

    /// A stored sample of a device.
    public init(
        sample: Sample, of device: DeviceID, revision: Int, receivedAt: Timestamp, isWithdrawn: Bool = false
    ) {
        self.init(sample, .device(device), revision, receivedAt, isWithdrawn)
    }

    private init(
        _ sample: Sample, _ origin: Origin, _ revision: Int, _ receivedAt: Timestamp, _ isWithdrawn: Bool
    ) {
        self.sample = sample
        self.origin = origin
        self.revision = revision
        self.receivedAt = receivedAt
        self.isWithdrawn = isWithdrawn
    }

    /// Whether another sample of the same device is this record, in whatever revision.
    public func isSameRecord(as other: StoredSample) -> Bool {
        let (ours, theirs) = (sample, other.sample)
        return ours.start == theirs.start && ours.end == theirs.end && ours.metric == theirs.metric
            && ours.isUserInitiated == theirs.isUserInitiated && ours.besideName == theirs.besideName
    }
}

extension StoredSample: Hashable {
    /// Whether both are the same revision with the same id, however it was made.
    public static func == (a: StoredSample, b: StoredSample) -> Bool {
        guard
            a.sample == b.sample, a.revision == b.revision, a.receivedAt == b.receivedAt,
            a.isWithdrawn == b.isWithdrawn
        else { return false }
        // Of the same sample, equal devices make equal ids.
        return switch (a.origin, b.origin) {
        case (.device(let ours), .device(let theirs)):
            ours == theirs && a.sample.besideName == b.sample.besideName
        default: a.id == b.id
        }
    }

    /// Hashes what equal samples share.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sample)
        hasher.combine(revision)
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
