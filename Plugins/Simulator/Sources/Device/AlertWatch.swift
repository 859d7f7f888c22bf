import GatewayKit
import Vitals

/// The device's own alerts: raised when an automatic value leaves the limits, cleared when one is well within again, or
/// when the limits are switched off.
struct AlertWatch: Sendable {
    /// The rules whose alerts are raised.
    private(set) var raised: Set<AlertRule> = []

    /// Looks at a value.
    mutating func check(_ sample: Sample, settings: MonitorSettings) -> [DeviceAlert] {
        var result: [DeviceAlert] = []
        for rule in AlertRule.watching(sample.metric) where rule.metric == sample.metric {
            guard let limit = rule.limit(in: settings),
                let value = rule.value(in: sample, isExercise: sample.isExercise ?? false)
            else { continue }
            if raised.contains(rule) {
                guard rule.isBack(value, limit, hysteresis: Self.hysteresis(of: rule.metric)) else { continue }
                raised.remove(rule)
                result.append(DeviceAlert(rule: rule, edge: .cleared, value: value, at: sample.end))
            } else if rule.isBeyond(value, limit) {
                raised.insert(rule)
                result.append(DeviceAlert(rule: rule, edge: .raised, value: value, at: sample.end))
            }
        }
        return result
    }

    /// Clears what is raised by limits that are no longer watched.
    mutating func settle(_ settings: MonitorSettings, at moment: Timestamp) -> [DeviceAlert] {
        AlertRule.all.filter { raised.contains($0) && $0.limit(in: settings) == nil }.map { rule in
            raised.remove(rule)
            return DeviceAlert(rule: rule, edge: .cleared, value: nil, at: moment)
        }
    }

    /// How far a value must be within a limit to clear its alert, in the metric's unit.
    private static func hysteresis(of metric: Metric) -> Double {
        switch metric {
        case .heartRate, .bloodPressure, .stress: 4
        case .bloodOxygen: 1
        default: 0.2
        }
    }
}
