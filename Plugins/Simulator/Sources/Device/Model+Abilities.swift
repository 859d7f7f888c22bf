import Vitals

extension Model {
    /// The device's capabilities with a history of this many days. With 0 days it has neither history nor summaries.
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
                .bloodPressure: limited, .bloodOxygen: limited, .stress: limited, .temperature: limited,
                .heartRateVariability: watched, .respiratoryRate: limited, .skinTemperature: watched, .steps: kept,
                .sleep: kept, .sport: kept,
            ]
        case .ring:
            [
                .heartRate: coarse.union(.measure), .bloodOxygen: coarse.union(.measure), .stress: coarse,
                .temperature: coarse, .heartRateVariability: coarse, .respiratoryRate: coarse, .skinTemperature: coarse,
                .steps: kept, .sleep: kept,
            ]
        case .cuff: [.bloodPressure: [.measure, .history]]
        case .scale: [.weight: .history]
        case .glucose: [.bloodGlucose: [.measure, .monitor, .alert, .history]]
        case .oximeter: [.heartRate: [.measure, .history], .bloodOxygen: [.measure, .history]]
        }
    }

    /// The monitoring settings of a new device.
    var factorySettings: MonitorSettings {
        let able = capabilities(historyDays: 0)
        return MonitorSettings(
            Self.factory.compactMap { metric, factory in
                guard able.supports(.monitor, metric) else { return nil }
                let hasLimits = !(abilities[metric] ?? []).isDisjoint(with: [.alert, .restAlert, .exerciseAlert])
                let (start, end) = hasLimits ? factory.hours : (0, 1440)
                return try? MonitorConfiguration(
                    of: metric,
                    schedule: MonitorSchedule(isEnabled: true, start: start, end: end, interval: factory.interval),
                    limits: hasLimits
                        ? factory.limits.mapValues {
                            AlertLimits(isEnabled: true, lower: $0.lowerBound, upper: $0.upperBound)
                        } : [:], exerciseMaximum: metric.distinguishesExercise ? 185 : nil)
            })
    }

    /// The factory monitoring of a metric: minutes between two values, the hours of the day, and limits.
    private static let factory:
        [Metric: (interval: Int, hours: (Int, Int), limits: [AlertRule.Subject: ClosedRange<Double>])] = [
            .heartRate: (5, (0, 1440), [.resting: 40...110, .exercise: 60...175]),
            .bloodPressure: (60, (360, 1320), [.systolic: 90...140, .diastolic: 55...90]),
            .bloodOxygen: (30, (0, 1440), [.value: 92...100]), .stress: (30, (0, 1440), [.value: 0...80]),
            .temperature: (60, (0, 1440), [.value: 35...37.8]),
            .heartRateVariability: (30, (0, 1440), [:]), .respiratoryRate: (30, (0, 1440), [.value: 9...30]),
            .skinTemperature: (30, (0, 1440), [:]), .bloodGlucose: (5, (0, 1440), [.value: 65...200]),
        ]
}
