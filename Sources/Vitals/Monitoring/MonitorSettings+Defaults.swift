extension MonitorSettings {
    /// Settings to begin with for a device of these capabilities, where the device reports none of its own: everything is
    /// off, with the times and limits that the guide of automatic monitoring uses as its examples.
    ///
    /// Each metric gets a whole schedule and whole limits as soon as the device offers one setting of them, since a
    /// schedule is written and published as a whole.
    public static func defaults(for capabilities: Capabilities) -> MonitorSettings {
        var result = MonitorSettings()
        for (metric, configuration) in examples {
            var offered = configuration
            func offers(_ fields: MonitorSetting.Field...) -> Bool {
                fields.contains { MonitorSetting(metric, $0).isOffered(by: capabilities) }
            }
            if !offers(.scheduleEnabled) { offered.schedule = nil }
            if !offers(.alertEnabled) {
                offered.alert = nil
                offered.pressureAlert = nil
            }
            if !offers(.restingAlertEnabled) { offered.restingAlert = nil }
            if !offers(.exerciseAlertEnabled) { offered.exerciseAlert = nil }
            if !offers(.exerciseMaximum) { offered.exerciseMaximum = nil }
            result[metric] = offered
        }
        return result
    }

    private static let examples: [(Metric, MonitorConfiguration)] = [
        (
            .heartRate,
            MonitorConfiguration(
                schedule: schedule(from: 480, to: 1440, every: 10), restingAlert: limits(40, 100),
                exerciseAlert: limits(60, 180), exerciseMaximum: 190)
        ),
        (
            .bloodPressure,
            MonitorConfiguration(
                schedule: schedule(from: 360, to: 1320, every: 15),
                pressureAlert: BloodPressureLimits(
                    isEnabled: false, systolicLower: 90, systolicUpper: 140, diastolicLower: 60, diastolicUpper: 90))
        ),
        (
            .bloodOxygen,
            MonitorConfiguration(schedule: schedule(from: 0, to: 1440, every: 30), alert: limits(95, 100))
        ),
        (
            .stress,
            MonitorConfiguration(schedule: schedule(from: 480, to: 1200, every: 20), alert: limits(0, 70))
        ),
        (
            .temperature,
            MonitorConfiguration(schedule: schedule(from: 0, to: 1440, every: 60), alert: limits(36, 38))
        ),
    ]

    private static func schedule(from start: Int, to end: Int, every interval: Int) -> MonitorSchedule {
        MonitorSchedule(isEnabled: false, start: start, end: end, interval: interval)
    }

    private static func limits(_ lower: Double, _ upper: Double) -> AlertLimits {
        AlertLimits(isEnabled: false, lower: lower, upper: upper)
    }
}
