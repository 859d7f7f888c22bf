package import Vitals

/// A device's limits, looked up once per batch of samples.
package struct WatchedLimits: Sendable {
    private let settings: MonitorSettings
    private var byMetric: [Metric: [(rule: AlertRule, limit: Double)]] = [:]

    package init(_ settings: MonitorSettings) { self.settings = settings }

    /// The rules that apply to samples of this metric and have a limit, with the limit.
    package mutating func watching(_ metric: Metric) -> [(rule: AlertRule, limit: Double)] {
        if let known = byMetric[metric] { return known }
        let found = AlertRule.watching(metric).compactMap { rule in rule.limit(in: settings).map { (rule, $0) } }
        byMetric[metric] = found
        return found
    }
}
