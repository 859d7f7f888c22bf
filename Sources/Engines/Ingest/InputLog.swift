package import Vitals

/// Counts and remembers input that a device should not have sent or did not announce.
package struct InputLog: Sendable {
    /// Lines, records and samples ignored since the start.
    package private(set) var ignored = 0
    private var undeclared: Set<Metric> = []
    /// Refused live samples that are not reported yet.
    private var refused: [Metric: Refusals] = [:]
    private var reportedAt: Timestamp?

    /// Shortest time between two reports of refused live samples.
    package static let reportInterval: Duration = .minutes(1)

    package init() {}

    /// Whether refused live samples are not reported yet.
    package var hasRefused: Bool { !refused.isEmpty }

    package mutating func ignore(_ count: Int = 1) { ignored += count }

    /// Counts a live sample that is refused.
    package mutating func refuse(_ sample: Sample, _ reason: RefusalReason) {
        refuse(sample.metric, reason, start: sample.start, end: sample.end)
    }

    /// Counts a live sample of which only this is known.
    package mutating func refuse(_ metric: Metric, _ reason: RefusalReason, start: Timestamp, end: Timestamp) {
        ignored += 1
        refused[metric, default: Refusals()].add(reason, start: start, end: end)
    }

    /// Removes and returns the refused samples of each metric, by metric name. Returns none within `reportInterval` of the
    /// report before, unless this one is final.
    package mutating func removeRefused(at now: Timestamp, isFinal: Bool) -> [(metric: Metric, refusals: Refusals)] {
        let isDue = reportedAt.map { now < $0 || now - $0 >= Self.reportInterval } ?? true
        guard !refused.isEmpty, isDue || isFinal else { return [] }
        defer { refused = [:] }
        reportedAt = now
        return refused.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
    }

    /// Puts refused samples back that could not be reported.
    package mutating func restore(_ refusals: Refusals, of metric: Metric) {
        refused[metric, default: Refusals()].add(refusals)
    }

    /// Whether this is the first sample of a metric that is missing from the capabilities.
    package mutating func isNewlyUndeclared(_ metric: Metric, capabilities: Capabilities) -> Bool {
        !capabilities.supports(metric) && metric.hasHistory && undeclared.insert(metric).inserted
    }
}
