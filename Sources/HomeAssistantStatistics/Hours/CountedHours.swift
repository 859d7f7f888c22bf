package import Vitals

/// The sum of a series at a moment: where a computation of sums begins.
package struct SumAnchor: Sendable, Hashable {
    /// What Home Assistant's newest row before the computed hours shows.
    package struct Row: Sendable, Hashable {
        package var hour: Hour
        /// The day's count at the end of the hour, and since when it counts; `nil` if the row does not say.
        package var count: Count?
    }
    package struct Count: Sendable, Hashable {
        package var state: Double
        package var since: Timestamp
    }
    package var moment: Timestamp
    package var sum: Double
    /// `nil` if there is no row: then the series begins here.
    package var row: Row?

    /// The beginning of a series.
    package init(at moment: Timestamp, sum: Double = 0) { (self.moment, self.sum) = (moment, sum) }

    /// The anchor that a row gives; `nil` if it has no sum.
    ///
    /// Sum minus state is the sum at the row's last reset. All samples since then count from there, also those that the row
    /// does not show: the device, the broker or Home Assistant may have been offline at its end.
    package init?(_ row: StatisticRow, samplesSince oldest: Timestamp?) {
        guard let sum = row.sum else { return nil }
        let hour = Hour(of: row.start)
        if let state = row.state, let since = row.lastReset, since >= (oldest ?? since) {
            (moment, self.sum) = (since, sum - state)
            self.row = Row(hour: hour, count: Count(state: state, since: since))
        } else {
            // Without its samples the row's own number is all that is known.
            (moment, self.sum) = (max(hour.end, oldest ?? hour.end), sum)
            self.row = Row(hour: hour)
        }
    }
}

/// Hourly statistics of a count that begins at zero with each local day.
///
/// One rule holds for each row: its sum is the sum of the series at the last reset plus what was counted since, and the sum
/// at a reset is the one at the reset before plus that day's count. Home Assistant keeps its own rows so within a day, so
/// that sum minus state is all that has to fit where its rows follow ours.
package struct CountedHours: Sendable {
    private let calendar: LocalCalendar
    private let anchor: SumAnchor
    /// The counts by quarter of an hour: no zone has begun a day at any other minute since 1972.
    private var quarters: [Int64: Double] = [:]

    package init(from anchor: SumAnchor, calendar: LocalCalendar) {
        self.anchor = anchor
        self.calendar = calendar
    }

    /// The beginning of the observations that the first of some hours needs: those of its day.
    package static func beginning(of first: Hour, calendar: LocalCalendar) -> Timestamp {
        min(dayStart(of: first.start, calendar), dayStart(before: first.end, calendar))
    }

    /// Adds an observation, in any order.
    package mutating func add(_ observation: Observation) {
        guard observation.number != 0 else { return }
        quarters[Self.quarter(of: observation.moment), default: 0] += observation.number
    }

    /// Whether nothing was ever counted.
    package var isEmpty: Bool { quarters.isEmpty && anchor.sum == 0 && (anchor.row?.count?.state ?? 0) == 0 }

    /// The hour from which the rows are not what the samples say, up to the first pending one.
    /// - Parameter precision: the difference from which two counts are different numbers, and not one number rounded twice.
    package func beginning(before first: Hour, precision: Double) -> Hour {
        guard let row = anchor.row, row.hour < first else { return first }
        if let count = row.count, abs(total(from: count.since, to: row.hour.end) - count.state) >= precision {
            return row.hour
        }
        let gap =
            Self.quarter(
                of: max(row.hour.end, anchor.moment))..<max(
                Self.quarter(of: first.start), Self.quarter(of: max(row.hour.end, anchor.moment)))
        guard let quarter = quarters.keys.filter({ gap.contains($0) }).min() else { return first }
        return Hour(of: Timestamp(milliseconds: quarter * Self.length))
    }

    /// Every hour of a range, also those without observations.
    package func statistics(in hours: ClosedRange<Hour>) -> [HourlyStatistic] {
        var sum = sum(at: hours.lowerBound.start)
        return hours.map { hour in
            sum += total(from: hour.start, to: hour.end)
            let since = Self.dayStart(before: hour.end, calendar)
            return HourlyStatistic(
                hour: hour, content: .counted(state: total(from: since, to: hour.end), sum: sum, since: since))
        }
    }

    /// The sum of the series at a moment.
    package func sum(at moment: Timestamp) -> Double {
        moment >= anchor.moment
            ? anchor.sum + total(from: anchor.moment, to: moment) : anchor.sum - total(from: moment, to: anchor.moment)
    }

    private func total(from start: Timestamp, to end: Timestamp) -> Double {
        guard start < end else { return 0 }
        let range = Self.quarter(of: start)..<Self.quarter(of: end)
        // A row of Home Assistant may have been reset ages ago. In the order of time, so that the sum is the same each time.
        guard range.count > quarters.count else { return range.reduce(0) { $0 + (quarters[$1] ?? 0) } }
        return quarters.keys.filter { range.contains($0) }.sorted().reduce(0) { $0 + (quarters[$1] ?? 0) }
    }

    /// The length of a quarter of an hour in milliseconds.
    private static let length: Int64 = 900_000

    private static func quarter(of moment: Timestamp) -> Int64 { moment.milliseconds / length }

    private static func dayStart(of moment: Timestamp, _ calendar: LocalCalendar) -> Timestamp {
        calendar.bounds(of: calendar.day(of: moment)).lowerBound
    }

    /// When the day began that was running just before a moment.
    private static func dayStart(before moment: Timestamp, _ calendar: LocalCalendar) -> Timestamp {
        dayStart(of: moment - .milliseconds(1), calendar)
    }
}
