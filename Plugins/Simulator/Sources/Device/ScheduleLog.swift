import Vitals

/// Which schedule a device followed when: what was recorded before a change stays as it was recorded.
struct ScheduleLog: Sendable {
    /// Changes to remember. With more, what lies before the oldest of them looks as if that one had held for ever.
    static let capacity = 64

    private var changes: [(since: Timestamp, schedule: MonitorSchedule)]

    /// A log that begins with the schedule of the factory.
    init(_ schedule: MonitorSchedule) { changes = [(.earliest, schedule)] }

    /// The schedule at a moment.
    func schedule(at moment: Timestamp) -> MonitorSchedule? {
        (changes.last { $0.since <= moment } ?? changes.first)?.schedule
    }

    /// Notes that from a moment on there is another schedule. Changes that a clock turned back has put after it are void.
    mutating func change(to schedule: MonitorSchedule, at moment: Timestamp) {
        if self.schedule(at: moment) == schedule, changes.last.map({ $0.since <= moment }) ?? false { return }
        changes.removeAll { $0.since >= moment }
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
