import HomeAssistant
import Vitals

/// Home Assistant's own rows of a count after the last hour that is imported.
///
/// Home Assistant continues the sum from its newest five-minute row: it adds what the state grew by, or the state itself after
/// a new `last_reset`. So within a day its sum exceeds the state by a constant, and this constant must be the sum of the series
/// at the last reset. The difference is added to its rows by `recorder/adjust_sum_statistics`, which changes five-minute
/// and hourly rows together. It is computed from what the rows show, so that a repetition adds nothing; and the sum of the
/// series comes from a row before `end`, which no shift changes.
struct SumContinuation {
    /// The rows of a time with one reset.
    private struct Run {
        var start: Timestamp
        var since: Timestamp
        /// The newest row decides, since Home Assistant continues from it.
        var state: Double
        var sum: Double
    }
    private var runs: [Run] = []
    /// The end of the imported hours.
    private let end: Timestamp

    /// - Parameter rows: the five-minute rows from `end` to now.
    init(_ rows: [StatisticRow], from end: Timestamp) {
        self.end = end
        for row in rows where row.start >= end {
            guard let state = row.state, let sum = row.sum, let since = row.lastReset else { continue }
            if runs.last?.since == since {
                runs[runs.count - 1].state = state
                runs[runs.count - 1].sum = sum
            } else {
                runs.append(Run(start: row.start, since: since, state: state, sum: sum))
            }
        }
    }

    /// When its first row begins; `nil` if there is none, and nothing to fit.
    var start: Timestamp? { runs.first?.start }
    /// When the oldest day of these rows began.
    var oldestDay: Timestamp? { runs.map(\.since).min() }
    /// Whether nothing was ever counted.
    var isEmpty: Bool { runs.allSatisfy { $0.sum == 0 && $0.state == 0 } }

    /// What is to be added from which moment on, so that each day's rows have its constant.
    func shifts(to hours: CountedHours) -> [(from: Timestamp, by: Double)] {
        var shifts: [(from: Timestamp, by: Double)] = []
        var total = 0.0
        for (place, run) in runs.enumerated() {
            let wanted = hours.sum(at: run.since) + run.state
            let difference = wanted - run.sum - total
            guard !run.sum.isClose(to: run.sum + difference) else { continue }
            shifts.append((place == 0 ? end : run.start, difference))
            total += difference
        }
        return shifts
    }

    /// Makes Home Assistant's rows fit, and sees that they do. Returns whether they did not fit before.
    func fit(_ hours: CountedHours, _ series: SeriesImport) async throws -> Bool {
        let shifts = shifts(to: hours)
        guard !shifts.isEmpty else { return false }
        try await series.check()
        for shift in shifts { try await series.conversation.shift(series.target, from: shift.from, by: shift.by) }
        try await series.waitFor("the sums of \(series.target.entity)") {
            let rows = try await series.conversation.rows(
                of: series.target, in: end..<series.settings.clock.now, fiveMinutes: true)
            return SumContinuation(rows, from: end).shifts(to: hours).isEmpty
        }
        return true
    }
}
