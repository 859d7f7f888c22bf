import GatewayKit
import Vitals

extension DeviceState {
    /// The monitoring configuration of a metric.
    func configuration(of metric: Metric) throws(DeviceError) -> MonitorConfiguration {
        guard capabilities.supports(.monitor, metric), let configuration = settings[metric] else {
            throw .unsupported("monitoring of \(metric.rawValue)")
        }
        return configuration
    }

    /// Applies a configuration at a moment of the device's clock, and returns the alerts that it clears.
    ///
    /// Parts that the model does not have are ignored: a ring without settable times keeps monitoring around the clock.
    mutating func configure(
        _ wanted: MonitorConfiguration, at moment: Timestamp
    ) throws(DeviceError) -> [DeviceAlert] {
        let metric = wanted.metric
        let before = try configuration(of: metric)
        var result = before.replacingParts(with: wanted.keepingParts { before[$0] != nil })
        if let schedule = wanted.schedule, var own = before.schedule {
            own.isEnabled = schedule.isEnabled
            if capabilities.supports(.scheduleInterval, metric) { own.interval = schedule.interval }
            if capabilities.supports(.scheduleTime, metric) { (own.start, own.end) = (schedule.start, schedule.end) }
            result.schedule = own
        }
        var candidate = settings
        candidate.set(result)
        let changed = Set(result.leaves.map { MonitorSetting(metric, $0.field) })
        if let violation = candidate.violations(capabilities: nil, changed: changed).first {
            throw DeviceError(.invalid, "\(violation.path) \(violation.message).")
        }
        settings = candidate
        if let schedule = result.schedule { schedules[metric]?.change(to: schedule, at: moment) }
        return alerts.settle(settings, at: moment)
    }
}
