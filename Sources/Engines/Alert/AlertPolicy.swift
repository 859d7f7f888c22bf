package import Vitals

/// How the gateway evaluates values beyond their limits, so that alerts are meaningful and not repeated.
package struct AlertPolicy: Sendable, Hashable {
    /// How far a value must come back within its limit before the alert clears, in the metric's unit.
    package var hysteresis: [Metric: Double]
    /// How many values in a row must be beyond the limit before the alert is raised, at least 1.
    package var count: [Metric: Int]
    /// How long a rule stays silent after it raised an alert.
    package var cooldown: Duration
    /// Times of day without live events; levels still change.
    package var quietHours: [QuietHours]
    /// Whether values count while the device reports that it is not worn.
    package var countsWhenNotWorn: Bool

    /// A time of day, in minutes from local midnight. If it ends before it begins, it spans midnight.
    package struct QuietHours: Sendable, Hashable {
        package var from: Int
        package var to: Int
        /// The rules that are silent; `nil` for all.
        package var rules: Set<AlertRule>?

        package init(from: Int, to: Int, rules: Set<AlertRule>? = nil) {
            self.from = from
            self.to = to
            self.rules = rules
        }

        func contains(_ minute: Int, _ rule: AlertRule) -> Bool {
            guard rules?.contains(rule) ?? true else { return false }
            return from <= to ? (from..<to).contains(minute) : minute >= from || minute < to
        }
    }

    /// The default hysteresis of each metric.
    package static let defaultHysteresis = Dictionary(
        uniqueKeysWithValues: Metric.limited.map { ($0, $0.monitoring?.hysteresis ?? 0) })
    /// The default count of each metric.
    package static let defaultCount = Dictionary(
        uniqueKeysWithValues: Metric.limited.map { ($0, $0.monitoring?.count ?? 1) })

    package init(
        hysteresis: [Metric: Double] = defaultHysteresis, count: [Metric: Int] = defaultCount,
        cooldown: Duration = .minutes(10), quietHours: [QuietHours] = [], countsWhenNotWorn: Bool = false
    ) {
        self.hysteresis = hysteresis
        self.count = count
        self.cooldown = cooldown
        self.quietHours = quietHours
        self.countsWhenNotWorn = countsWhenNotWorn
    }

    func isQuiet(_ rule: AlertRule, minute: Int) -> Bool { quietHours.contains { $0.contains(minute, rule) } }
}
