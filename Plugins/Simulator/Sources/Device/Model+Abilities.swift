import Vitals

extension Model {
    /// What the device can do, with a history of so many days. A device with none has neither history nor summaries.
    func capabilities(historyDays: Int) -> Capabilities {
        let missing: Abilities = historyDays > 0 ? [] : [.history, .summary]
        return Capabilities(
            abilities.mapValues { $0.subtracting(missing) }, maximumHistoryDays: historyDays > 0 ? historyDays : nil)
    }

    private var abilities: [Metric: Abilities] {
        let kept: Abilities = [.history, .summary]
        let watched: Abilities = [.measure, .monitor, .scheduleTime, .scheduleInterval, .history, .summary]
        let limited = watched.union(.alert)
        let coarse: Abilities = [.monitor, .scheduleInterval, .history]
        return switch self {
        case .band:
            [
                .heartRate: limited.union([.restAlert, .exerciseAlert, .enhanced]), .restingHeartRate: kept,
                .bloodPressure: limited, .bloodOxygen: limited, .stress: limited, .temperature: limited, .steps: kept,
                .sleep: kept, .sport: kept,
            ]
        case .ring:
            [
                .heartRate: coarse.union(.measure), .bloodOxygen: coarse.union(.measure), .stress: coarse,
                .temperature: coarse, .steps: kept, .sleep: kept,
            ]
        case .cuff: [.bloodPressure: [.measure, .history]]
        case .oximeter: [.heartRate: [.measure, .history], .bloodOxygen: [.measure, .history]]
        }
    }

    /// How the device monitors before anybody told it otherwise.
    var factorySettings: MonitorSettings {
        var settings = MonitorSettings()
        for (metric, interval) in [
            (Metric.heartRate, 5), (.bloodPressure, 60), (.bloodOxygen, 30), (.stress, 30), (.temperature, 60),
        ] where capabilities(historyDays: 0).supports(.monitor, metric) {
            settings[metric] = configuration(of: metric, interval: interval)
        }
        return settings
    }

    private func configuration(of metric: Metric, interval: Int) -> MonitorConfiguration {
        var result = MonitorConfiguration(
            schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: interval))
        if metric == .heartRate { result.exerciseMaximum = 185 }
        let abilities = abilities[metric] ?? []
        guard !abilities.isDisjoint(with: [.alert, .restAlert, .exerciseAlert]) else { return result }
        switch metric {
        case .heartRate:
            result.restingAlert = AlertLimits(isEnabled: true, lower: 40, upper: 110)
            result.exerciseAlert = AlertLimits(isEnabled: true, lower: 60, upper: 175)
        case .bloodPressure:
            result.schedule = MonitorSchedule(isEnabled: true, start: 360, end: 1320, interval: interval)
            result.pressureAlert = BloodPressureLimits(
                isEnabled: true, systolicLower: 90, systolicUpper: 140, diastolicLower: 55, diastolicUpper: 90)
        case .bloodOxygen: result.alert = AlertLimits(isEnabled: true, lower: 92, upper: 100)
        case .stress: result.alert = AlertLimits(isEnabled: true, lower: 0, upper: 80)
        default: result.alert = AlertLimits(isEnabled: true, lower: 35, upper: 37.8)
        }
        return result
    }
}
