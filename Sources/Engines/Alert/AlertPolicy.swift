package import Vitals

/// How the gateway judges values that leave their limits, so that an alert means something and is not repeated.
package struct AlertPolicy: Sendable, Hashable {
    /// How far a value must come back within its limit before the alert clears, in the metric's unit.
    package var hysteresis: [Metric: Double]
    /// How many values in a row must be beyond the limit before the alert is raised, at least 1.
    package var count: [Metric: Int]
    /// How long after an alert was raised the same rule stays silent.
    package var cooldown: Duration
    /// Times of the day at which no live event is sent; the level changes all the same.
    package var quietHours: [QuietHours]
    /// Whether values count while the device says that it is not worn.
    package var countsWhenNotWorn: Bool

    /// A time of the day, in minutes from local midnight; one that ends before it begins goes over midnight.
    package struct QuietHours: Sendable, Hashable {
        package var from: Int
        package var to: Int
        /// The rules that are quiet; `nil` for all.
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

    /// The hysteresis that each metric has unless it is configured.
    package static let defaultHysteresis: [Metric: Double] = [
        .heartRate: 5, .bloodPressure: 5, .bloodOxygen: 1, .stress: 5, .temperature: 0.3,
    ]
    /// The count that each metric has unless it is configured: a cuff measures rarely, so one pressure is enough.
    package static let defaultCount: [Metric: Int] = [
        .heartRate: 2, .bloodPressure: 1, .bloodOxygen: 2, .stress: 2, .temperature: 2,
    ]

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
