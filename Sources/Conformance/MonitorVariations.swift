import Vitals

/// Variations of a device's present monitoring configuration.
struct MonitorVariations {
    /// Configurations that each change one part that the device can change, and one that changes all of them.
    let possible: [MonitorConfiguration]
    /// Configurations that no device can follow, each because of one part.
    let impossible: [MonitorConfiguration]

    init(of original: MonitorConfiguration, _ abilities: Abilities) {
        let schedules = Self.schedules(of: original, abilities)
        let limits = Self.limits(of: original, abilities)
        let each = schedules.possible + limits.possible
        let all = each.dropFirst().reduce(each.first) { $0?.replacingParts(with: $1) }
        possible = each.count > 1 ? each + (all.map { [$0] } ?? []) : each
        impossible = schedules.impossible + limits.impossible
    }

    private typealias Variations = (possible: [MonitorConfiguration], impossible: [MonitorConfiguration])

    private static func schedules(of original: MonitorConfiguration, _ abilities: Abilities) -> Variations {
        guard let schedule = original.schedule else { return ([], []) }
        func changed(_ change: (inout MonitorSchedule) -> Void) -> [MonitorConfiguration] {
            var changed = schedule
            change(&changed)
            return part(of: original, schedule: changed)
        }
        var result: Variations = (changed { $0.isEnabled.toggle() }, [])
        if abilities.contains(.scheduleTime) {
            for (start, end) in [(0, 1440), (480, 1200), (485, 490)] {
                result.possible += changed { ($0.start, $0.end) = (start, end) }
            }
            result.impossible += changed { ($0.start, $0.end) = (600, 600) }
        }
        if abilities.contains(.scheduleInterval) {
            for interval in [10, 30, 60] { result.possible += changed { $0.interval = interval } }
            result.impossible += changed { $0.interval = 7 }
        }
        return result
    }

    private static func limits(of original: MonitorConfiguration, _ abilities: Abilities) -> Variations {
        var result: Variations = ([], [])
        for group in original.metric.alertGroups where abilities.contains(Self.ability(for: group)) {
            let limits = original.limits.filter { $0.key.group == group }
            guard !limits.isEmpty else { continue }
            func changed(_ change: (inout AlertLimits) -> Void) -> [MonitorConfiguration] {
                let changed = limits.mapValues { limits in
                    var limits = limits
                    change(&limits)
                    return limits
                }
                return part(of: original, limits: changed)
            }
            result.possible += changed { $0.isEnabled.toggle() }
            // An upper limit at the end of the metric's range is one that the device does not have.
            let end = original.metric.range?.upperBound
            result.possible += changed {
                ($0.lower, $0.upper) = ($0.lower + 1, $0.upper == end ? $0.upper : $0.upper - 1)
            }
            result.impossible += changed { ($0.lower, $0.upper) = ($0.upper, $0.lower) }
        }
        if let maximum = original.exerciseMaximum {
            result.possible += part(of: original, exerciseMaximum: maximum == 180 ? 181 : 180)
            result.impossible += part(of: original, exerciseMaximum: 90)
        }
        return result
    }

    /// A configuration of the same metric with only these parts.
    private static func part(
        of original: MonitorConfiguration, schedule: MonitorSchedule? = nil,
        limits: [AlertRule.Subject: AlertLimits] = [:], exerciseMaximum: Int? = nil
    ) -> [MonitorConfiguration] {
        let part = try? MonitorConfiguration(
            of: original.metric, schedule: schedule, limits: limits, exerciseMaximum: exerciseMaximum)
        return part.map { [$0] } ?? []
    }

    /// The ability that allows setting the limits of this group.
    private static func ability(for group: AlertGroup) -> Abilities {
        switch group {
        case .alert, .rate: .alert
        case .resting: .restAlert
        case .exercise: .exerciseAlert
        }
    }
}
