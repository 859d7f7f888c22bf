package import Vitals

extension MonitorConfiguration {
    /// A configuration for a test, with parts that are valid for its metric.
    package static func fixture(
        of metric: Metric, schedule: MonitorSchedule? = nil, limits: [AlertRule.Subject: AlertLimits] = [:],
        exerciseMaximum: Int? = nil
    ) -> MonitorConfiguration {
        do {
            return try MonitorConfiguration(
                of: metric, schedule: schedule, limits: limits, exerciseMaximum: exerciseMaximum)
        } catch { preconditionFailure("\(error)") }  // an error of the test itself
    }
}

extension MonitorSettings {
    /// Settings for a test: limits of the values of some metrics, all of which hold.
    package static func fixture(limits: [Metric: [AlertRule.Subject: ClosedRange<Double>]]) -> MonitorSettings {
        var settings = MonitorSettings()
        for (metric, ranges) in limits {
            settings.set(
                MonitorConfiguration.fixture(
                    of: metric,
                    limits: ranges.mapValues {
                        AlertLimits(isEnabled: true, lower: $0.lowerBound, upper: $0.upperBound)
                    }))
        }
        return settings
    }
}
