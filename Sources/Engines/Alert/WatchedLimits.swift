package import Vitals

/// The limits of a device, looked up once for the samples of a batch.
package struct WatchedLimits: Sendable {
    private let settings: MonitorSettings
    private var byMetric: [Metric: [(rule: AlertRule, limit: Double)]] = [:]

    package init(_ settings: MonitorSettings) { self.settings = settings }

    /// The rules that a sample of this metric may touch and that have a limit, with it.
    package mutating func watching(_ metric: Metric) -> [(rule: AlertRule, limit: Double)] {
        if let known = byMetric[metric] { return known }
        let found = AlertRule.watching(metric).compactMap { rule in rule.limit(in: settings).map { (rule, $0) } }
        byMetric[metric] = found
        return found
    }
}
