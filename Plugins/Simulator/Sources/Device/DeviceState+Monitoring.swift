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

/// The history of a device's schedules: a change does not affect earlier records.
struct ScheduleLog: Sendable {
    /// The most changes to remember. Beyond that, the oldest remembered schedule counts as valid for all earlier times.
    static let capacity = 64

    private var changes: [(since: Timestamp, schedule: MonitorSchedule)]

    /// A log that begins with the factory schedule.
    init(_ schedule: MonitorSchedule) { changes = [(.earliest, schedule)] }

    /// The schedule at a moment. A change holds only for later moments: a value taken in the very millisecond of the
    /// change is not affected.
    func schedule(at moment: Timestamp) -> MonitorSchedule? {
        (changes.last { $0.since < moment } ?? changes.first)?.schedule
    }

    /// Records a change. Removes changes with later times, which exist if the clock was turned back.
    mutating func change(to schedule: MonitorSchedule, at moment: Timestamp) {
        changes.removeAll { $0.since >= moment }
        guard changes.last?.schedule != schedule else { return }
        changes.append((moment, schedule))
        if changes.count > Self.capacity { changes.removeFirst() }
    }
}

extension MonitorSchedule {
    /// Whether a value is due at this minute of the wall clock's day.
    func includes(_ minute: Int) -> Bool {
        isEnabled && start <= minute && minute < end && (minute - start) % max(interval, 1) == 0
    }
}
