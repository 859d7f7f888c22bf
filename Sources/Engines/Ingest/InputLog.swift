package import Vitals

/// Counts and remembers input that a device should not have sent or did not announce.
package struct InputLog: Sendable {
    /// Values that were dropped since the start, by reason, but for the records that a synchronisation counts.
    package private(set) var skipped: [String: Int] = [:]
    /// How many were dropped of what, to log doubling numbers.
    private var totals: [String: Int] = [:]
    private var undeclared: Set<Metric> = []
    /// Refused live samples that are not reported yet.
    private var refused: [Metric: Refusals] = [:]
    private var reportedAt: Timestamp?
    /// What is not taken, since it was erased or is older than the configuration wants.
    package var erasures = Erasures()

    /// Shortest time between two reports of refused live samples.
    package static let reportInterval: Duration = .minutes(1)
    /// The most reasons, and things that are dropped, which are counted apart: each metric for each reason, and what drivers name. More
    /// are counted as `others`.
    package static let maximumReasons = 128
    /// What further ones are counted as.
    package static let others = "other"

    package init() {}

    /// Whether refused live samples are not reported yet.
    package var hasRefused: Bool { !refused.isEmpty }

    /// Counts values that are dropped.
    package mutating func skip(_ reason: String, count: Int = 1) { Self.add(count, to: reason, in: &skipped) }

    /// Counts what is dropped. Returns how many there were since the start if that is to be logged: with the first one, and whenever
    /// their number has doubled.
    package mutating func total(of what: String, adding count: Int) -> Int? {
        let key = Self.add(count, to: what, in: &totals)
        let total = totals[key] ?? 0
        return total.leadingZeroBitCount < (total - count).leadingZeroBitCount ? total : nil
    }

    @discardableResult
    private static func add(_ count: Int, to name: String, in counts: inout [String: Int]) -> String {
        let key = counts[name] != nil || counts.count < maximumReasons ? name : others
        counts[key, default: 0] += count
        return key
    }

    /// Counts a live sample that is refused.
    package mutating func refuse(_ sample: Sample, _ reason: RefusalReason) {
        refuse(sample.metric, reason, start: sample.start, end: sample.end)
    }

    /// Counts a live sample of which only this is known.
    package mutating func refuse(_ metric: Metric, _ reason: RefusalReason, start: Timestamp, end: Timestamp) {
        skip(reason.rawValue)
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
