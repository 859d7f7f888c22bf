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
