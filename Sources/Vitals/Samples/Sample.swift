/// One record of a wearable: what was measured, when, and how it came about.
public struct Sample: Sendable, Hashable {
    /// What was measured.
    public var metric: Metric
    /// When the measurement began.
    public var start: Timestamp
    /// When it ended; equal to `start` for a spot value, never before it. This is the time of measurement.
    public var end: Timestamp
    /// What the device says that the value stands for.
    public var kind: Kind
    /// Whether a person started the measurement (manual), rather than the device's schedule (automatic).
    public var isUserInitiated: Bool
    /// Whether the person was exercising, where the device says so. Only heart rates carry it.
    public var isExercise: Bool?
    /// The device's own revision of this record, from 1, where it has one.
    public var revision: Int?
    /// The device's user slot, of a device that several people use.
    public var user: Int?
    /// The measured value.
    public var reading: Reading

    /// Puts a sample together. `end` defaults to `start`.
    public init(
        metric: Metric, start: Timestamp, end: Timestamp? = nil, kind: Kind = .normal, isUserInitiated: Bool = false,
        isExercise: Bool? = nil, revision: Int? = nil, user: Int? = nil, reading: Reading
    ) {
        self.metric = metric
        self.start = start
        self.end = end ?? start
        self.kind = kind
        self.isUserInitiated = isUserInitiated
        self.isExercise = isExercise
        self.revision = revision
        self.user = user
        self.reading = reading
    }

    /// How long the measurement took.
    public var duration: Duration { end - start }

    /// Whether `other` tells the same but for the device's revision of it. A record that arrives again with other
    /// content is a correction.
    public func hasSameContent(as other: Sample) -> Bool {
        start == other.start && end == other.end && metric == other.metric && kind == other.kind
            && isUserInitiated == other.isUserInitiated && isExercise == other.isExercise && user == other.user
            && reading == other.reading
    }
}

extension Sample {
    /// What a value stands for. The raw value is its name on the wire.
    public enum Kind: String, CaseIterable, Sendable, Hashable {
        /// An ordinary value.
        case normal
        /// The highest value of a period, as the device reports it.
        case maximum
        /// The lowest value of a period, as the device reports it.
        case minimum
        /// A value at complete rest.
        case resting
    }
}
