/// An event that must reach every consumer: it passes through the durable outbox with its own number, and is sent until
/// the broker has acknowledged it.
package struct Fact: Sendable, Hashable {
    /// The number by which consumers notice a loss: it increases by one per published fact of a store, across all
    /// lanes.
    package var sequence: Int64
    /// The outbox lane, which decides its priority.
    package var lane: Lane
    /// The device concerned.
    package var device: DeviceID
    /// What happened.
    package var content: Content

    package init(sequence: Int64, lane: Lane, device: DeviceID, content: Content) {
        self.sequence = sequence
        self.lane = lane
        self.device = device
        self.content = content
    }

    /// The content of a fact.
    package enum Content: Sendable, Hashable {
        /// Samples of one metric and one user, 1 to 200.
        case measurement(Measurement)
        /// A past local day, new or corrected.
        case day(DayRecord)
        /// An edge of an alert. A late one was found in old data or could not be sent in time.
        case alert(AlertEvent, isLate: Bool)
        /// Samples or facts known to be lost.
        case gap(Gap)
        /// A sample waits until somebody says whose it is.
        case question(Question)
    }

    /// Samples of one metric and one user in a message.
    package struct Measurement: Sendable, Hashable {
        /// Maximum samples per message: about 60 KiB, which small brokers and boards can handle.
        package static let maximumSamples = 200
        /// Maximum sleep stages per message: about 90 KiB. A sleep with more has its own message.
        package static let maximumStages = 1_000

        package var metric: Metric
        package var source: SampleSource
        package var isHistorical: Bool
        package var user: Int?
        package var samples: [StoredSample]

        package init(metric: Metric, source: SampleSource, isHistorical: Bool, user: Int?, samples: [StoredSample]) {
            self.metric = metric
            self.source = source
            self.isHistorical = isHistorical
            self.user = user
            self.samples = samples
        }
    }
}

/// The lanes of the outbox, in order of priority. The raw value is that order, and is stored.
package enum Lane: Int, CaseIterable, Sendable, Hashable {
    /// Edges of alerts, and gaps.
    case alert = 0
    /// Answers to commands. They are not facts and have no sequence number.
    case answer = 1
    /// Current samples.
    case live = 2
    /// Past samples and days.
    case history = 3

    /// The lane's name in `gateway/state`.
    package var name: String {
        switch self {
        case .alert: "alert"
        case .answer: "answer"
        case .live: "live"
        case .history: "history"
        }
    }
}

/// A local day as published.
package struct DayRecord: Sendable, Hashable {
    /// The day's summary.
    package var summary: DailySummary
    /// Increases with each correction, from 1.
    package var revision: Int
    /// When it was computed.
    package var updatedAt: Timestamp
    /// Whether the day is over.
    package var isFinal: Bool
    /// The device's own summary of the day, if any.
    package var deviceSummary: DailySummary?

    package init(
        summary: DailySummary, revision: Int, updatedAt: Timestamp, isFinal: Bool, deviceSummary: DailySummary? = nil
    ) {
        self.summary = summary
        self.revision = revision
        self.updatedAt = updatedAt
        self.isFinal = isFinal
        self.deviceSummary = deviceSummary
    }
}

/// Samples or facts known to be lost.
package struct Gap: Sendable, Hashable {
    /// Why they are lost. The raw value is the name on the wire.
    package enum Reason: String, CaseIterable, Sendable, Hashable {
        /// The outbox exceeded a limit and dropped them unsent.
        case evicted
        /// The store's file was moved aside because it was corrupt.
        case storeReset = "store_reset"
        /// The device was not read for longer than it keeps its history.
        case device
        /// The device's records are implausible or unreadable, or too many waited for the store.
        case refused
        /// A person's data was erased: what of it was not sent yet is not sent any more.
        case erased
    }

    /// The metric; `nil` if no samples were lost, or samples of several metrics.
    package var metric: Metric?
    /// The earliest start of what was lost, if known.
    package var from: Timestamp?
    /// The latest end of what was lost, if known.
    package var to: Timestamp?
    /// Number of lost samples or facts, if known.
    package var count: Int?
    /// The reason.
    package var reason: Reason
    /// When it was detected.
    package var at: Timestamp
    /// The numbers of facts that will never be sent, if any had one.
    package var sequences: [ClosedRange<Int64>]
    /// Number of refused records, by reason.
    package var refused: [RefusalReason: Int]

    package init(
        metric: Metric?, from: Timestamp?, to: Timestamp?, count: Int?, reason: Reason, at: Timestamp,
        sequences: [ClosedRange<Int64>] = [], refused: [RefusalReason: Int] = [:]
    ) {
        self.metric = metric
        self.from = from
        self.to = to
        self.count = count
        self.reason = reason
        self.at = at
        self.sequences = sequences
        self.refused = refused
    }

    /// A gap for refused records of a metric.
    package init(_ refusals: Refusals, of metric: Metric, at now: Timestamp) {
        self.init(
            metric: metric, from: refusals.from, to: refusals.to, count: refusals.count, reason: .refused, at: now,
            refused: refusals.counts)
    }
}
