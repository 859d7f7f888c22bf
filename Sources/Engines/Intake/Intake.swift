package import Vitals

/// Samples of one device that are to be kept, with what is decided once it is known which of them are new.
package struct Intake: Sendable {
    package var device: DeviceID
    /// Valid samples with their identities, in the order in which they came.
    package var samples: [Incoming]
    package var receivedAt: Timestamp
    /// Cursors that move with these samples, in the same transaction.
    package var cursors: [Metric: Timestamp]
    /// Called within the transaction, on the store's executor, with one outcome per sample.
    package var decide: @Sendable (_ outcomes: [SampleOutcome]) -> Decision

    /// A sample on its way into the store.
    package struct Incoming: Sendable, Hashable {
        package var sample: Sample
        package var id: SampleID

        package init(sample: Sample, id: SampleID) {
            self.sample = sample
            self.id = id
        }
    }

    package init(
        device: DeviceID, samples: [Incoming], receivedAt: Timestamp, cursors: [Metric: Timestamp] = [:],
        decide: @escaping @Sendable (_ outcomes: [SampleOutcome]) -> Decision
    ) {
        self.device = device
        self.samples = samples
        self.receivedAt = receivedAt
        self.cursors = cursors
        self.decide = decide
    }
}

/// What the store found of one sample.
package struct SampleOutcome: Sendable, Hashable {
    package enum Novelty: Sendable, Hashable {
        /// It was not known.
        case new
        /// It was known with another content: this is a correction, with a higher revision.
        case corrected
        /// It was known with the same content.
        case known
    }
    /// The sample as it is kept now.
    package var stored: StoredSample
    package var novelty: Novelty

    package init(stored: StoredSample, novelty: Novelty) {
        self.stored = stored
        self.novelty = novelty
    }
}

/// What follows from samples that were taken in.
package struct Decision: Sendable {
    /// Facts to publish, in this order, without numbers: the store numbers them.
    package var facts: [(lane: Lane, content: Fact.Content)] = []
    /// Alert levels that changed.
    package var levels: [AlertLevel] = []
    /// High-water marks that moved.
    package var highWater: [Metric: Timestamp] = [:]
    /// Past days that have to be summarised again.
    package var unsettledDays: Set<MetricDay> = []
    /// The device's ledger after these samples; it holds once the transaction is on disk.
    package var ledger: DeviceLedger

    package init(ledger: DeviceLedger) { self.ledger = ledger }
}

/// What came of an intake.
package struct IntakeResult: Sendable {
    package var ledger: DeviceLedger
    package var new: Int
    package var corrected: Int
    package var known: Int
    /// Alert levels that changed, to be published.
    package var levels: [AlertLevel]
    /// Past days that have to be summarised again.
    package var unsettledDays: Set<MetricDay>

    package init(
        ledger: DeviceLedger, new: Int, corrected: Int, known: Int, levels: [AlertLevel], unsettledDays: Set<MetricDay>
    ) {
        self.ledger = ledger
        self.new = new
        self.corrected = corrected
        self.known = known
        self.levels = levels
        self.unsettledDays = unsettledDays
    }
}
