package import Vitals

/// When the gateway itself measures: for metrics that a device measures on demand but does not monitor.
package struct MeasurementSchedule: Sendable {
    /// Duration of a scheduled measurement.
    package static let duration: Duration = .seconds(60)

    private var lastSlot: [Metric: Timestamp] = [:]

    package init() {}

    /// The metrics that are due, each once per slot. Slots missed while the device was offline are not made up for.
    package mutating func due(
        _ settings: MonitorSettings, capabilities: Capabilities, calendar: LocalCalendar, at now: Timestamp
    ) -> [Metric] {
        Metric.monitored.filter { metric in
            guard capabilities.supports(.measure, metric), !capabilities.supports(.monitor, metric),
                let schedule = settings[metric]?.schedule, schedule.isEnabled, schedule.interval > 0
            else { return false }
            let minute = calendar.minuteOfDay(now)
            guard minute >= schedule.start, minute < schedule.end else { return false }
            let slot = (minute - schedule.start) / schedule.interval * schedule.interval + schedule.start
            let bounds = calendar.bounds(of: calendar.day(of: now))
            let begin = max(bounds.lowerBound, now - .minutes(minute - slot))
            let key = Timestamp(milliseconds: begin.milliseconds / 60_000 * 60_000)
            guard lastSlot[metric] != key else { return false }
            lastSlot[metric] = key
            // A slot that is first seen after its first minute counts as missed.
            return minute == slot
        }
    }
}
