package import StoreAPI
package import Vitals

/// Hourly statistics of a count that begins at zero with each local day.
///
/// Within a day the sum of the series exceeds the day's count by a constant, the sum at the beginning of the day. Home
/// Assistant keeps its own rows the same way, so that this constant is all that has to fit where its rows follow ours.
package struct CountedHours: Sendable {
    private let calendar: LocalCalendar
    private let first: Hour
    /// The sum before the first hour, as Home Assistant knows it.
    private let base: Double
    /// The counts by quarter of an hour: no zone has begun a day at any other minute since 1972.
    private var quarters: [Int64: Double] = [:]

    /// - Parameter base: the sum of the series before `first`.
    package init(from first: Hour, base: Double, calendar: LocalCalendar) {
        self.first = first
        self.base = base
        self.calendar = calendar
    }

    /// The beginning of the observations that it needs: those of the first hour's day.
    package static func beginning(of first: Hour, calendar: LocalCalendar) -> Timestamp {
        min(dayStart(of: first.start, calendar), dayStart(before: first.end, calendar))
    }

    /// Adds an observation, in any order.
    package mutating func add(_ observation: Observation) {
        quarters[Self.quarter(of: observation.moment), default: 0] += observation.number
    }

    /// Whether nothing was ever counted: the device does not count this, and there is nothing to import.
    package var isEmpty: Bool { quarters.isEmpty && base == 0 }

    /// Every hour up to `last`, also those without observations.
    package func statistics(through last: Hour) -> [HourlyStatistic] {
        guard first <= last else { return [] }
        var sum = base
        return (first...last).map { hour in
            sum += total(from: hour.start, to: hour.end)
            let since = Self.dayStart(before: hour.end, calendar)
            return HourlyStatistic(
                hour: hour, content: .counted(state: total(from: since, to: hour.end), sum: sum, since: since))
        }
    }

    /// The sum of the series at the beginning of a day.
    package func sum(at moment: Timestamp) -> Double {
        moment >= first.start
            ? base + total(from: first.start, to: moment) : base - total(from: moment, to: first.start)
    }

    private func total(from start: Timestamp, to end: Timestamp) -> Double {
        guard start < end else { return 0 }
        return (Self.quarter(of: start)..<Self.quarter(of: end)).reduce(0) { $0 + (quarters[$1] ?? 0) }
    }

    private static func quarter(of moment: Timestamp) -> Int64 {
        moment.milliseconds / 900_000
    }

    private static func dayStart(of moment: Timestamp, _ calendar: LocalCalendar) -> Timestamp {
        calendar.bounds(of: calendar.day(of: moment)).lowerBound
    }

    /// When the day began that was running just before a moment.
    private static func dayStart(before moment: Timestamp, _ calendar: LocalCalendar) -> Timestamp {
        dayStart(of: moment - .milliseconds(1), calendar)
    }
}
