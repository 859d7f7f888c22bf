package import Vitals

/// Decides what is published of the running day, and which past days have to be settled.
package struct DayMachine: Sendable {
    /// The device's own summary of the running day, or of an earlier one.
    private var own: [Metric: DailySummary] = [:]

    package init() {}

    /// Restores the device's own summary of the running day from the store.
    package mutating func restore(_ record: DayRecord?, of metric: Metric) { own[metric] = record?.deviceSummary }

    /// The running day of a metric as published and answered.
    package func record(of summary: DailySummary, at now: Timestamp) -> DayRecord {
        let own = own[summary.metric].flatMap { $0.day == summary.day ? $0 : nil }
        return DayRecord(summary: summary, revision: 1, updatedAt: now, isFinal: false, deviceSummary: own)
    }

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
