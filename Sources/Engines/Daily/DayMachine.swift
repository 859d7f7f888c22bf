package import StoreAPI
package import Vitals

/// Decides what is published and stored of the running day, and which past days have to be settled.
package struct DayMachine: Sendable {
    /// The running day as last published. Its counters never fall.
    private var published: [Metric: DailySummary] = [:]
    /// The running day as last stored.
    private var stored: [Metric: DailySummary] = [:]
    /// The device's own summary of the running day, or of an earlier one.
    private var own: [Metric: DailySummary] = [:]

    package init() {}

    /// Restores the running day from the store.
    package mutating func restore(_ record: DayRecord?, of metric: Metric) {
        published[metric] = record?.summary
        stored[metric] = record?.summary
        own[metric] = record?.deviceSummary
    }

    /// The running day of a metric as published and answered: no counter is lower than last published.
    package func record(of summary: DailySummary, at now: Timestamp) -> DayRecord {
        let raised = published[summary.metric].map { summary.raised(over: $0) } ?? summary
        let own = own[summary.metric].flatMap { $0.day == summary.day ? $0 : nil }
        return DayRecord(summary: raised, revision: 1, updatedAt: now, isFinal: false, deviceSummary: own)
    }

    /// Like `record`, and remembers the summary as published.
    package mutating func publish(_ summary: DailySummary, at now: Timestamp) -> DayRecord {
        let record = record(of: summary, at: now)
        published[summary.metric] = record.summary
        return record
    }

    /// Published summaries whose counters exceed the sum of the samples and that are not stored yet. They have to be
    /// stored, so that no counter falls across a restart.
    package func raised(over today: RunningDay) -> [DailySummary] {
        published.values.filter { summary in
            let metric = summary.metric
            return summary.day == today.day && stored[metric] != summary && !today.outdated.contains(metric)
                && today.summary(of: metric) != summary
        }
    }

    /// Records that a summary of the running day is stored.
    package mutating func markStored(_ summary: DailySummary) { stored[summary.metric] = summary }

    /// Takes the device's own summary of the running day. Returns whether it is new.
    package mutating func recordDeviceSummary(_ summary: DailySummary) -> Bool {
        guard own[summary.metric]?.hasSameContent(as: summary) != true else { return false }
        own[summary.metric] = summary
        return true
    }

    /// Whether the device has its own summary of a day.
    package func hasDeviceSummary(_ metric: Metric, on day: LocalDay) -> Bool { own[metric]?.day == day }

    /// The past days that have to be summarised, in order.
    package static func due(_ unsettled: Set<MetricDay>, today: LocalDay) -> [MetricDay] {
        unsettled.filter { $0.day < today }.sorted { ($0.day, $0.metric.rawValue) < ($1.day, $1.metric.rawValue) }
    }
}
