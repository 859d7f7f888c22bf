extension MonitorConfiguration {
    /// Reads a metric's configuration out of a table of settings. A part of which a setting is missing is `nil`.
    init?(metric: Metric, settings: MonitorSettings) {
        func toggle(_ field: MonitorSetting.Field) -> Bool? {
            if case .toggle(let value) = settings[metric, field] { value } else { nil }
        }
        func number(_ field: MonitorSetting.Field) -> Double? {
            if case .number(let value) = settings[metric, field] { value } else { nil }
        }
        func limits(
            _ enabled: MonitorSetting.Field, _ lower: MonitorSetting.Field, _ upper: MonitorSetting.Field
        ) -> AlertLimits? {
            guard let isEnabled = toggle(enabled), let lower = number(lower), let upper = number(upper) else {
                return nil
            }
            return AlertLimits(isEnabled: isEnabled, lower: lower, upper: upper)
        }
        self.init()
        if let isEnabled = toggle(.scheduleEnabled), let start = number(.scheduleStart), let end = number(.scheduleEnd),
            let interval = number(.scheduleInterval)
        {
            schedule = MonitorSchedule(
                isEnabled: isEnabled, start: Int(clamping: start), end: Int(clamping: end),
                interval: Int(clamping: interval))
        }
        alert = limits(.alertEnabled, .alertLower, .alertUpper)
        restingAlert = limits(.restingAlertEnabled, .restingAlertLower, .restingAlertUpper)
        exerciseAlert = limits(.exerciseAlertEnabled, .exerciseAlertLower, .exerciseAlertUpper)
        exerciseMaximum = number(.exerciseMaximum).map { Int(clamping: $0) }
        if let isEnabled = toggle(.alertEnabled), let systolicLower = number(.systolicLower),
            let systolicUpper = number(.systolicUpper), let diastolicLower = number(.diastolicLower),
            let diastolicUpper = number(.diastolicUpper)
        {
            pressureAlert = BloodPressureLimits(
                isEnabled: isEnabled, systolicLower: systolicLower, systolicUpper: systolicUpper,
                diastolicLower: diastolicLower, diastolicUpper: diastolicUpper)
        }
        if self == MonitorConfiguration() { return nil }
    }

    /// The leaves of this configuration that `metric` has, in the order of `MonitorSetting.Field.allCases`.
    public func fields(of metric: Metric) -> [(MonitorSetting.Field, MonitorSetting.Value)] {
        var result: [(MonitorSetting.Field, MonitorSetting.Value)] = []
        if let schedule {
            result += [
                (.scheduleEnabled, .toggle(schedule.isEnabled)), (.scheduleStart, .number(Double(schedule.start))),
                (.scheduleEnd, .number(Double(schedule.end))), (.scheduleInterval, .number(Double(schedule.interval))),
            ]
        }
        switch metric {
        case .heartRate:
            if let restingAlert {
                result += [
                    (.restingAlertEnabled, .toggle(restingAlert.isEnabled)),
                    (.restingAlertLower, .number(restingAlert.lower)),
                    (.restingAlertUpper, .number(restingAlert.upper)),
                ]
            }
            if let exerciseAlert {
                result += [
                    (.exerciseAlertEnabled, .toggle(exerciseAlert.isEnabled)),
                    (.exerciseAlertLower, .number(exerciseAlert.lower)),
                    (.exerciseAlertUpper, .number(exerciseAlert.upper)),
                ]
            }
            if let exerciseMaximum { result.append((.exerciseMaximum, .number(Double(exerciseMaximum)))) }
        case .bloodPressure:
            if let limits = pressureAlert {
                result += [
                    (.alertEnabled, .toggle(limits.isEnabled)), (.systolicLower, .number(limits.systolicLower)),
                    (.systolicUpper, .number(limits.systolicUpper)), (.diastolicLower, .number(limits.diastolicLower)),
                    (.diastolicUpper, .number(limits.diastolicUpper)),
                ]
            }
        default:
            if let alert {
                result += [
                    (.alertEnabled, .toggle(alert.isEnabled)), (.alertLower, .number(alert.lower)),
                    (.alertUpper, .number(alert.upper)),
                ]
            }
        }
        return result
    }
}

extension Int {
    /// The whole part of a number within ±1 billion, else that bound, and 0 for no number: a device's report is shown as
    /// far as it can be, and is never a reason to stop.
    fileprivate init(clamping number: Double) {
        self = number.isNaN ? 0 : Int(Swift.min(Swift.max(number, -1e9), 1e9))
    }
}
