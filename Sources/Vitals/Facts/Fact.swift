/// Something that happened and must reach every consumer: it goes through the durable outbox, carries a number of its
/// own and is sent again until the broker has acknowledged it.
package struct Fact: Sendable, Hashable {
    /// The number by which consumers notice a loss: published facts of a store count by one, over all lanes.
    package var sequence: Int64
    /// In which order of urgency it is sent.
    package var lane: Lane
    /// The device that it is about.
    package var device: DeviceID
    /// What happened.
    package var content: Content

    package init(sequence: Int64, lane: Lane, device: DeviceID, content: Content) {
        self.sequence = sequence
        self.lane = lane
        self.device = device
        self.content = content
    }

    /// What a fact says.
    package enum Content: Sendable, Hashable {
        /// Samples of one metric and one user, 1 to 200.
        case measurement(Measurement)
        /// A past local day, new or corrected.
        case day(DayRecord)
        /// An edge of an alert; a late one was found in old data, or could not be sent in time.
        case alert(AlertEvent, isLate: Bool)
        /// Samples or facts that are known to be lost.
        case gap(Gap)
    }

    /// Samples of one metric and one user that share a message.
    package struct Measurement: Sendable, Hashable {
        /// The most samples of one message: some 60 KiB, so that small brokers and boards take it.
        package static let maximumSamples = 200
        /// The most stages of the sleeps of one message, some 90 KiB; a sleep that has more is alone in its message.
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

/// The lanes of the outbox, the most urgent first. The raw value is the order and what the store keeps.
package enum Lane: Int, CaseIterable, Sendable, Hashable {
    /// Edges of alerts, and gaps.
    case alert = 0
    /// Answers to commands. They are no facts and have no number.
    case answer = 1
    /// Samples that are about now.
    case live = 2
    /// Samples and days of the past.
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

/// A past local day as it is published.
package struct DayRecord: Sendable, Hashable {
    /// The day's summary.
    package var summary: DailySummary
    /// Rises with each correction, from 1.
    package var revision: Int
    /// When it was computed.
    package var updatedAt: Timestamp
    /// Whether the day is over.
    package var isFinal: Bool
    /// What the device itself says of the day, where it says anything.
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

/// Samples or facts that are known to be lost.
package struct Gap: Sendable, Hashable {
    /// Why they are lost. The raw value is its name on the wire.
    package enum Reason: String, CaseIterable, Sendable, Hashable {
        /// The outbox was over a limit and dropped them unsent.
        case evicted
        /// The store's file was set aside because it was corrupt.
        case storeReset = "store_reset"
        /// The device was not read for longer than it keeps its history.
        case device
    }

    /// The metric, `nil` where it is not samples that were lost, or not of one metric.
    package var metric: Metric?
    /// The earliest start of what was lost, where known.
    package var from: Timestamp?
    /// The latest end of what was lost, where known.
    package var to: Timestamp?
    /// How many samples (or facts) were lost, where known.
    package var count: Int?
    /// Why.
    package var reason: Reason
    /// When it was noticed.
    package var at: Timestamp
    /// The numbers of the facts that will never come, where any had one.
    package var sequences: [ClosedRange<Int64>]

    package init(
        metric: Metric?, from: Timestamp?, to: Timestamp?, count: Int?, reason: Reason, at: Timestamp,
        sequences: [ClosedRange<Int64>] = []
    ) {
        self.metric = metric
        self.from = from
        self.to = to
        self.count = count
        self.reason = reason
        self.at = at
        self.sequences = sequences
    }
}
