/// How the measurement that is in progress stands, or how the last one ended.
package struct MeasureState: Sendable, Hashable {
    /// The phases. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case idle, starting, measuring, ended, failed }

    package var phase: Phase
    package var metric: Metric?
    package var startedAt: Timestamp?
    /// The newest reading of the measurement.
    package var reading: Reading?
    /// Why it failed or was interrupted, for a person.
    package var error: String?

    package init(
        phase: Phase = .idle, metric: Metric? = nil, startedAt: Timestamp? = nil, reading: Reading? = nil,
        error: String? = nil
    ) {
        self.phase = phase
        self.metric = metric
        self.startedAt = startedAt
        self.reading = reading
        self.error = error
    }
}
