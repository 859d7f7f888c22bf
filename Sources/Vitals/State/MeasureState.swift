/// State of the running measurement, or the result of the last one.
package struct MeasureState: Sendable, Hashable {
    /// The phases. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case idle, starting, measuring, ended, failed }

    package var phase: Phase
    package var metric: Metric?
    package var startedAt: Timestamp?
    /// The newest reading.
    package var newest: Sample?
    /// Number of readings that the gateway refused as implausible.
    package var refused: Int
    /// Why the measurement failed or was interrupted, or why its newest reading failed, as text for people.
    package var error: String?

    package init(
        phase: Phase = .idle, metric: Metric? = nil, startedAt: Timestamp? = nil, newest: Sample? = nil,
        refused: Int = 0, error: String? = nil
    ) {
        self.phase = phase
        self.metric = metric
        self.startedAt = startedAt
        self.newest = newest
        self.refused = refused
        self.error = error
    }
}
