import Vitals

/// What a device can be told about monitoring, starting from how it monitors now.
struct MonitorVariations {
    /// Configurations that change one part each, of what the device can change, and one that changes all of them.
    let possible: [MonitorConfiguration]
    /// Configurations that no device can follow, each because of one part.
    let impossible: [MonitorConfiguration]

    init(of original: MonitorConfiguration, _ abilities: Abilities) {
        let schedules: Variations = original.schedule.map { Self.schedules($0, abilities) } ?? ([], [])
        let limits = Self.limits(of: original, abilities)
        let each = schedules.possible + limits.possible
        let all = each.reduce(MonitorConfiguration()) { $0.replacingParts(with: $1) }
        possible = each.count > 1 ? each + [all] : each
        impossible = schedules.impossible + limits.impossible
    }

    private typealias Variations = (possible: [MonitorConfiguration], impossible: [MonitorConfiguration])

    private static func schedules(_ schedule: MonitorSchedule, _ abilities: Abilities) -> Variations {
        func changed(_ change: (inout MonitorSchedule) -> Void) -> MonitorConfiguration {
            var changed = schedule
            change(&changed)
            return MonitorConfiguration(schedule: changed)
        }
        var result: Variations = ([changed { $0.isEnabled.toggle() }], [])
        if abilities.contains(.scheduleTime) {
            for (start, end) in [(0, 1440), (480, 1200), (485, 490)] {
                result.possible.append(changed { ($0.start, $0.end) = (start, end) })
            }
            result.impossible.append(changed { ($0.start, $0.end) = (600, 600) })
        }
        if abilities.contains(.scheduleInterval) {
            for interval in [10, 30, 60] { result.possible.append(changed { $0.interval = interval }) }
            result.impossible.append(changed { $0.interval = 7 })
        }
        return result
    }

    private static func limits(of original: MonitorConfiguration, _ abilities: Abilities) -> Variations {
        var result: Variations = ([], [])
        func add(_ limits: AlertLimits?, _ configuration: (AlertLimits) -> MonitorConfiguration) {
            guard let limits else { return }
            let (lower, upper) = (limits.lower, limits.upper)
            result.possible += [
                configuration(AlertLimits(isEnabled: !limits.isEnabled, lower: lower, upper: upper)),
                configuration(AlertLimits(isEnabled: limits.isEnabled, lower: lower + 1, upper: upper - 1)),
            ]
            result.impossible.append(
                configuration(AlertLimits(isEnabled: limits.isEnabled, lower: upper, upper: lower)))
        }
        if abilities.contains(.alert) {
            add(original.alert) { MonitorConfiguration(alert: $0) }
            if let limits = original.pressureAlert {
                var narrow = limits
                narrow.isEnabled.toggle()
                narrow.systolicUpper -= 1
                narrow.diastolicLower += 1
                result.possible.append(MonitorConfiguration(pressureAlert: narrow))
                var crossed = limits
                (crossed.systolicLower, crossed.systolicUpper) = (limits.systolicUpper, limits.systolicLower)
                result.impossible.append(MonitorConfiguration(pressureAlert: crossed))
            }
        }
        if abilities.contains(.restAlert) { add(original.restingAlert) { MonitorConfiguration(restingAlert: $0) } }
        if abilities.contains(.exerciseAlert) {
            add(original.exerciseAlert) { MonitorConfiguration(exerciseAlert: $0) }
        }
        if let maximum = original.exerciseMaximum {
            result.possible.append(MonitorConfiguration(exerciseMaximum: maximum == 180 ? 181 : 180))
            result.impossible.append(MonitorConfiguration(exerciseMaximum: 90))
        }
        return result
    }
}

extension MonitorConfiguration {
    /// This configuration with the parts that `other` has.
    func replacingParts(with other: MonitorConfiguration) -> MonitorConfiguration {
        MonitorConfiguration(
            schedule: other.schedule ?? schedule, alert: other.alert ?? alert,
            restingAlert: other.restingAlert ?? restingAlert, exerciseAlert: other.exerciseAlert ?? exerciseAlert,
            exerciseMaximum: other.exerciseMaximum ?? exerciseMaximum,
            pressureAlert: other.pressureAlert ?? pressureAlert)
    }
}
