import Vitals

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
