import GatewayKit
import Vitals

extension DeviceState {
    /// How the device monitors a metric.
    func configuration(of metric: Metric) throws(DeviceError) -> MonitorConfiguration {
        guard capabilities.supports(.monitor, metric), let configuration = settings[metric] else {
            throw .unsupported("monitoring of \(metric.rawValue)")
        }
        return configuration
    }

    /// Takes a configuration over at a moment of the device's clock, and returns the alerts that it ends.
    ///
    /// Parts that the model does not have are left out: a ring without settable times goes on around the clock.
    mutating func configure(
        _ metric: Metric, _ wanted: MonitorConfiguration, at moment: Timestamp
    ) throws(DeviceError) -> [DeviceAlert] {
        var result = try configuration(of: metric)
        if let schedule = wanted.schedule, var own = result.schedule {
            own.isEnabled = schedule.isEnabled
            if capabilities.supports(.scheduleInterval, metric) { own.interval = schedule.interval }
            if capabilities.supports(.scheduleTime, metric) { (own.start, own.end) = (schedule.start, schedule.end) }
            result.schedule = own
        }
        if result.alert != nil { result.alert = wanted.alert ?? result.alert }
        if result.restingAlert != nil { result.restingAlert = wanted.restingAlert ?? result.restingAlert }
        if result.exerciseAlert != nil { result.exerciseAlert = wanted.exerciseAlert ?? result.exerciseAlert }
        if result.exerciseMaximum != nil { result.exerciseMaximum = wanted.exerciseMaximum ?? result.exerciseMaximum }
        if result.pressureAlert != nil { result.pressureAlert = wanted.pressureAlert ?? result.pressureAlert }
        var candidate = settings
        candidate[metric] = result
        let fields = Set(result.fields(of: metric).map { MonitorSetting(metric, $0.0) })
        if let violation = candidate.violations(capabilities: nil, changed: fields).first {
            throw DeviceError(.invalid, "\(violation.path) \(violation.message).")
        }
        settings = candidate
        if let schedule = result.schedule { schedules[metric]?.change(to: schedule, at: moment) }
        return alerts.settle(settings, at: moment)
    }
}
