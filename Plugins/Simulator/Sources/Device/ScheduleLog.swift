import Vitals

/// Which schedule a device followed when: what was recorded before a change stays as it was recorded.
struct ScheduleLog: Sendable {
    /// Changes to remember. With more, what lies before the oldest of them looks as if that one had held for ever.
    static let capacity = 64

    private var changes: [(since: Timestamp, schedule: MonitorSchedule)]

    /// A log that begins with the schedule of the factory.
    init(_ schedule: MonitorSchedule) { changes = [(.earliest, schedule)] }

    /// The schedule of a moment. A change holds for what comes after it: a value that was taken in the very millisecond
    /// of the change stays.
    func schedule(at moment: Timestamp) -> MonitorSchedule? {
        (changes.last { $0.since < moment } ?? changes.first)?.schedule
    }

    /// Notes another schedule. Changes that were made later by the clock, which was turned back since, are void.
    mutating func change(to schedule: MonitorSchedule, at moment: Timestamp) {
        changes.removeAll { $0.since >= moment }
        guard changes.last?.schedule != schedule else { return }
        changes.append((moment, schedule))
        if changes.count > Self.capacity { changes.removeFirst() }
    }
}

extension MonitorSchedule {
    /// Whether it measures at this minute of a wall clock's day.
    func includes(_ minute: Int) -> Bool {
        isEnabled && start <= minute && minute < end && (minute - start) % max(interval, 1) == 0
    }
}
