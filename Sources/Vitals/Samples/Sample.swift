/// One record of a wearable: what was measured, when and how.
///
/// Two samples are equal if they say the same and have the same revision of the device, whichever source has recorded them.
public struct Sample: Sendable, Hashable {
    /// What was measured.
    public var metric: Metric
    /// When the measurement began.
    public var start: Timestamp
    /// When the measurement ended: equal to `start` for a spot value, never before it. This is the time of measurement.
    public var end: Timestamp
    /// What the value is, according to the device.
    public var kind: Kind
    /// Whether a person started the measurement (manual) or the device's schedule did (automatic).
    public var isUserInitiated: Bool
    /// Whether the person was exercising, if the device says so. Only heart rates have it.
    public var isExercise: Bool?
    /// Minutes by which local time was ahead of UTC where it was measured, at the moment that decides its day
    /// (`DailySummary.decisiveMoment`); `nil` where the source does not say it: then the configured zone counts.
    package var utcOffset: Int16?
    /// The minutes of which an app has summed up or averaged what its source says one by one, from `start` on, without saying when they
    /// end; 0 of a single value of such an app, and `nil` of all others. An original within them counts in its place.
    package var summedMinutes: Int16?
    /// The device's own revision of this record, from 1, if it has one.
    public var revision: Int?
    /// The device's user slot, if several people use the device.
    public var user: Int?
    /// The words that qualify the value, such as `[.statistic: "rmssd"]`; only those of `Metric.qualifiers`. A missing one
    /// is unknown.
    public var qualifiers: [Qualifier: String]
    /// Which of the device's sources recorded it; `nil` if the device is one, or does not say.
    public var origin: SampleOrigin?
    /// When its source last changed the record, by the source's own clock, if it says so: of two versions, and of two records of one
    /// thing, the later one counts, in any order of arrival.
    public var changedAt: Timestamp?
    /// When its source reported it, by the time of the document, if it does not say when it changed it: of two versions, and of two
    /// records of one thing, the one that was reported later counts.
    package var reportedAt: Timestamp?
    /// What it may correct, for the store that gets it: it is not kept.
    package var claim = Claim.whole
    /// What the gateway or somebody has decided of whose it is; `nil` if only the device, or nobody, has said it.
    package var whose: Whose?
    /// The measured value.
    public var reading: Reading

    /// A sample. `end` defaults to `start`.
    public init(
        metric: Metric, start: Timestamp, end: Timestamp? = nil, kind: Kind = .normal, isUserInitiated: Bool = false,
        isExercise: Bool? = nil, revision: Int? = nil, user: Int? = nil, qualifiers: [Qualifier: String] = [:],
        origin: SampleOrigin? = nil, changedAt: Timestamp? = nil, reading: Reading
    ) {
        self.metric = metric
        self.start = start
        self.end = end ?? start
        self.kind = kind
        self.isUserInitiated = isUserInitiated
        self.isExercise = isExercise
        self.revision = revision
        self.user = user
        self.qualifiers = qualifiers
        self.origin = origin
        self.changedAt = changedAt
        self.reading = reading
    }

    /// Whether it is a resting item of its day: a heart rate of kind `resting`, or any resting heart rate.
    package var isResting: Bool { metric.restOf != nil || metric.distinguishesExercise && kind == .resting }

    /// How long what an app has summed up in it may last.
    package var summed: Duration? { summedMinutes.map { .minutes(Int($0)) } }

    /// How many places the sample takes where a limit counts samples in memory: one, and one for every eight stages of a
    /// sleep or laps of a workout, which are as large as a sample.
    package var weight: Int {
        switch reading {
        case .sleep(let sleep): 1 + sleep.stages.count / 8
        case .sport(let sport): 1 + sport.laps.count / 8
        default: 1
        }
    }

    /// Duration of the measurement.
    public var duration: Duration { end - start }

    /// Whether it is a count of nothing, also without distance and energy. Such a record hides none of another source.
    package var countsNothing: Bool {
        guard case .count(let increment) = reading else { return false }
        return increment.amount == 0 && increment.distance ?? 0 == 0 && increment.energy ?? 0 == 0
    }

    /// Whether both are equal except for the device's revision, their source and when it changed them. A record that arrives again with
    /// other content is a correction.
    public func hasSameContent(as other: Sample) -> Bool {
        start == other.start && end == other.end && metric == other.metric && kind == other.kind
            && isUserInitiated == other.isUserInitiated && isExercise == other.isExercise && user == other.user
            && utcOffset == other.utcOffset
            && qualifiers == other.qualifiers && reading == other.reading
    }

    /// Whether both say the same, in the same revision.
    public static func == (a: Sample, b: Sample) -> Bool { a.revision == b.revision && a.hasSameContent(as: b) }

    /// Hashes what equal samples share.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(metric)
        hasher.combine(start)
        hasher.combine(end)
        hasher.combine(reading)
    }

    /// The words without which the value cannot be compared with others of its metric.
    var decisiveQualifiers: [Qualifier: String] {
        guard !qualifiers.isEmpty else { return qualifiers }
        let decisive = metric.qualifiers.filter(\.isDecisive).map(\.qualifier)
        return qualifiers.filter { decisive.contains($0.key) }
    }
}

extension Sample {
    /// What a sample may correct.
    package enum Claim: Sendable, Hashable {
        /// Any other form of the same thing.
        case whole
        /// No longer record of the same: the window of a document may have cut its beginning.
        case part
        /// Nothing was counted: only what is known of this interval and source; of an export (`OverlapRule.lastReported`) the count from
        /// this start, whichever end it had. Else it does not count, and is kept at most to know its time.
        /// A value of a metric without intervals is none then: what is known of its time and source is withdrawn.
        case correction
        /// A value of an export, which has each of them: what an app has summed up of it counts no more.
        case original
    }

    /// A decision of whose a sample is, which is no part of its content: what the device sends again does not undo it.
    package enum Whose: Sendable, Hashable {
        /// It is the user's of the sample; or, if the sample is withdrawn, nobody's.
        case settled
        /// It waits until somebody says whose it is, and counts nowhere. The users who are candidates.
        case asked([Int])
        /// It fits nobody, and is nobody's: stored as withdrawn, and read back as settled.
        case guest
    }

    /// What a value represents. The raw value is the name on the wire.
    public enum Kind: String, CaseIterable, Sendable, Hashable {
        /// An ordinary value.
        case normal
        /// The highest value of a period, as reported by the device.
        case maximum
        /// The lowest value of a period, as reported by the device.
        case minimum
        /// A value at complete rest.
        case resting
    }
}
