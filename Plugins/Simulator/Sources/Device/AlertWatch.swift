import GatewayKit
import Vitals

/// The device's own alerts: raised when an automatic value leaves the limits; cleared when a value is well within them
/// again, or when the limits are switched off.
struct AlertWatch: Sendable {
    /// The rules whose alerts are raised.
    private(set) var raised: Set<AlertRule> = []

    /// Checks a value and returns the alerts that it raises or clears.
    mutating func check(_ sample: Sample, settings: MonitorSettings) -> [DeviceAlert] {
        var result: [DeviceAlert] = []
        for rule in AlertRule.watching(sample.metric) where rule.metric == sample.metric {
            guard let limit = rule.limit(in: settings),
                let value = rule.value(in: sample, isExercise: sample.isExercise ?? false)
            else { continue }
            if raised.contains(rule) {
                guard rule.isBack(value, limit, hysteresis: Self.hysteresis[rule.metric] ?? 0.2) else { continue }
                raised.remove(rule)
                result.append(DeviceAlert(rule: rule, edge: .cleared, value: value, at: sample.end))
            } else if rule.isBeyond(value, limit) {
                raised.insert(rule)
                result.append(DeviceAlert(rule: rule, edge: .raised, value: value, at: sample.end))
            }
        }
        return result
    }

    /// Clears raised alerts whose limits are no longer watched.
    mutating func settle(_ settings: MonitorSettings, at moment: Timestamp) -> [DeviceAlert] {
        AlertRule.all.filter { raised.contains($0) && $0.limit(in: settings) == nil }.map { rule in
            raised.remove(rule)
            return DeviceAlert(rule: rule, edge: .cleared, value: nil, at: moment)
        }
    }

    /// How far within a limit a value must be to clear its alert, in the metric's unit; 0.2 for other metrics.
    private static let hysteresis: [Metric: Double] = [
        .heartRate: 4, .bloodPressure: 4, .stress: 4, .bloodOxygen: 1, .respiratoryRate: 1,
        .bloodGlucose: 5,
    ]
}
