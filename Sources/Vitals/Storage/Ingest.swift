/// Samples of one device to store, and a closure that decides what follows once it is known which of them are new.
package struct Ingest: Sendable {
    package var device: DeviceID
    /// Whose the samples are: records of one person that overlap are one.
    package var wearers: Wearers
    /// Valid samples, in order of arrival.
    package var samples: [Sample]
    /// Which of two records that exclude each other counts.
    package var overlaps: OverlapRule
    package var receivedAt: Timestamp
    /// Stored samples that get another person, or are taken back.
    package var moves: [SampleMove] = []
    /// Cursors to move with these samples, in the same transaction.
    package var cursors: [Metric: Timestamp]
    /// Whether the commit may wait a few milliseconds for others. No task waits for these samples.
    package var waitsForBatch: Bool
    /// Called within the transaction, on the store's executor, with the outcomes of the samples in order of arrival;
    /// the outcome of a sample follows those of the records that it withdraws.
    ///
    /// Called a second time if another request in the same transaction failed; the last decision is stored. So it must
    /// be pure, except for what it leaves for its caller, who reads that only after the commit.
    package var decide: @Sendable (_ outcomes: [SampleOutcome]) -> IngestOutcome

    package init(
        device: DeviceID, wearers: Wearers = Wearers(), samples: [Sample], overlaps: OverlapRule = .latestEnd,
        receivedAt: Timestamp, cursors: [Metric: Timestamp] = [:], waitsForBatch: Bool = false,
        decide: @escaping @Sendable (_ outcomes: [SampleOutcome]) -> IngestOutcome
    ) {
        self.device = device
        self.wearers = wearers
        self.samples = samples
        self.overlaps = overlaps
        self.receivedAt = receivedAt
        self.cursors = cursors
        self.waitsForBatch = waitsForBatch
        self.decide = decide
    }
}

/// What the store found out about a sample.
package struct SampleOutcome: Sendable, Hashable {
    package enum Novelty: Sendable, Hashable {
        /// Not known before.
        case new
        /// Known with other content: a correction, with a higher revision.
        case corrected
        /// Nothing new: known with the same content, or another record prevails over it.
        case known
        /// Published before, and now withdrawn with a higher revision: another record has replaced it.
        case withdrawn
    }
    /// The sample as stored now.
    package var stored: StoredSample
    package var novelty: Novelty

    package init(stored: StoredSample, novelty: Novelty) {
        self.stored = stored
        self.novelty = novelty
    }
}

/// The consequences of samples, stored with them.
package struct IngestOutcome: Sendable {
    /// Facts to publish, in this order; the store numbers them.
    package var facts: [(lane: Lane, content: Fact.Content)] = []
    /// Alert levels that changed.
    package var levels: [AlertLevel] = []
    /// High-water marks that moved.
    package var highWater: [Metric: Timestamp] = [:]
    /// The newest sample of each metric. After a clock was ahead, this is not the one with the latest end.
    package var latest: [Metric: SampleKey] = [:]
    /// Past days that have to be summarised again.
    package var unsettledDays: Set<MetricDay> = []
    /// Parts of the device's state that change as well.
    package var changes: [DeviceChange] = []

    package init() {}
}

/// What the store found out about the samples of an ingest.
package struct IngestResult: Sendable {
    package var new = 0
    package var corrected = 0
    package var known = 0
    /// What each sample is, in order of arrival.
    package var novelties: [SampleOutcome.Novelty]
    /// The places among the decision's facts of warnings that were known, and are not published again.
    package var repeatedFacts: Set<Int> = []
    /// The samples of `moves` as stored now.
    package var moved: [StoredSample] = []

    package init(novelties: [SampleOutcome.Novelty]) { self.novelties = novelties }
}

/// What becomes of a stored sample.
package struct SampleMove: Sendable, Hashable {
    package enum To: Sendable, Hashable {
        /// It is the user's, and counts.
        case user(Int?)
        /// It is nobody's, and counts nowhere.
        case nobody
    }
    package var metric: Metric
    package var key: SampleKey
    package var to: To

    package init(_ sample: Sample, to target: To) { (metric, key, to) = (sample.metric, SampleKey(sample), target) }
}

/// Which of two records of one device, person and source counts if both describe the same thing: sleeps and workouts that overlap, and
/// counts with the same start. Of two sleeps the one that says more counts before any of these (`Sleep.Detail`), and so it does of two
/// versions of one, unless the device numbers them (`Sample.revision`). Among equals, where both say when they were changed
/// (`Sample.changedAt`), it is the one changed later, by each rule; the rule decides about all others.
public enum OverlapRule: Sendable, Hashable {
    /// The one that ends later, in any order of arrival: a device with a memory of its own reports a night again while it grows, and
    /// keeps both.
    case latestEnd
    /// The one that arrived last, also where it came before: the source corrects its records itself, as an app does in its exports,
    /// which have all of them. One reading must not have two records that exclude each other.
    case lastReported
    /// The one that came last for the first time, as of an app that sends documents and sends them again: what is known and comes once
    /// more changes nothing. Where documents have a time (`Sample.reportedAt`), what a later one says, also once more, came later, and
    /// those of one time are one document. A count of nothing excludes none with another end. Only where the window of a document has
    /// cut the same record, the longer one counts: of a count that ends earlier and is smaller than the known one, of sleeps with the
    /// same stages of which one may be cut at its beginning (`Sample.claim`), and of records of one document.
    case newest
}
