package import Vitals

/// The consequences of an event: what to store, and the projection after it.
package struct Recording: Sendable {
    package var decision: IngestOutcome
    /// Valid once the decision is on disk.
    package var projection: SampleProjection

    init(_ decision: IngestOutcome, _ projection: SampleProjection) {
        self.decision = decision
        self.decision.latest = projection.latest.mapValues { SampleKey($0.sample) }
        self.projection = projection
    }
}
