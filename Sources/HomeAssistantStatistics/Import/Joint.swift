import HomeAssistant
import StoreAPI
import Vitals

/// Where Home Assistant's own rows of a count follow the imported hours.
///
/// Home Assistant continues the sum from its newest five-minute row: it adds what the state grew by, or the state itself after
/// a new `last_reset`. So within a day its sum exceeds the state by a constant, and this constant must be the sum of the series
/// at the beginning of that day. The difference is added to its rows by `recorder/adjust_sum_statistics`, which changes
/// five-minute and hourly rows together. It is computed from what the rows show, so that a repetition adds nothing.
struct Joint {
    /// The rows after the last imported hour, or the newest one before it. All have a state, a sum and a reset.
    private(set) var rows: [(start: Timestamp, state: Double, sum: Double, since: Timestamp)] = []
    /// The hour of the newest row if there is none after the imported hours.
    private(set) var oldestHour: Hour?

    /// When the running day began.
    private let today: Timestamp

    /// No row.
    init(today: Timestamp) { self.today = today }

    /// `nil` if there is no usable row.
    init?(_ rows: [StatisticRow], after last: Hour, today: Timestamp) {
        self.today = today
        let usable = rows.compactMap { row in
            row.state.flatMap { state in
                row.sum.flatMap { sum in row.lastReset.map { (start: row.start, state: state, sum: sum, since: $0) } }
            }
        }
        guard let newest = usable.last else { return nil }
        self.rows = usable.filter { $0.start >= last.end }
        if self.rows.isEmpty {
            self.rows = [newest]
            oldestHour = Hour(of: newest.start)
        }
    }

    /// When the oldest day of these rows began.
    var oldestDay: Timestamp? { rows.map(\.since).min() }

    /// What is to be added from which moment on, so that each day's rows have its constant.
    func shifts(to hours: CountedHours, after last: Hour) -> [(from: Timestamp, by: Double)] {
        var shifts: [(from: Timestamp, by: Double)] = []
        var (since, total): (Timestamp?, Double) = (nil, 0)
        for row in rows where row.since != since {
            // The newest row of the day decides, since Home Assistant continues from it.
            let newest = rows.last { $0.since == row.since } ?? row
            // From a row of an earlier day it will go on with a reset: then the state of that row counts no more.
            let isOver = oldestHour != nil && row.since < today
            let wanted = isOver ? hours.sum(at: today) : hours.sum(at: row.since) + newest.state
            let difference = wanted - newest.sum - total
            let isFirst = since == nil && oldestHour == nil
            since = row.since
            guard !newest.sum.isClose(to: newest.sum + difference) else { continue }
            shifts.append((isFirst ? last.end : row.start, difference))
            total += difference
        }
        return shifts
    }

    /// Makes Home Assistant's rows fit, and sees that they do.
    func fit(
        _ hours: CountedHours, _ target: StatisticTarget, after last: Hour, _ conversation: Conversation,
        _ settings: StatisticsSettings
    ) async throws {
        let shifts = shifts(to: hours, after: last)
        guard !shifts.isEmpty, let first = rows.first else { return }
        for shift in shifts { try await conversation.shift(target, from: shift.from, by: shift.by) }
        try await settings.waitFor("the sums of \(target.entity)") {
            let rows = try await conversation.rows(
                of: target, in: first.start..<settings.clock.now, fiveMinutes: true)
            return Joint(rows, after: last, today: today).map { $0.shifts(to: hours, after: last).isEmpty } ?? false
        }
    }
}
