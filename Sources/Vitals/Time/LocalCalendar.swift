public import Foundation

/// Computes local days and offsets in one time zone; days have 23 or 25 hours where the zone changes its offset.
public struct LocalCalendar: Sendable, Hashable {
    /// The time zone.
    public let timeZone: TimeZone

    /// A calendar for a time zone.
    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// A calendar for a zone of the IANA database, such as `Europe/Berlin`; `nil` if there is no such zone.
    public init?(identifier: String) {
        guard let timeZone = TimeZone(identifier: identifier) else { return nil }
        self.timeZone = timeZone
    }

    /// The zone's name, such as `Europe/Berlin`.
    public var identifier: String { timeZone.identifier }

    /// Maximum length of a period returned by `offset(at:)`. No zone has changed its offset twice within a week since
    /// 1970, so the offsets at both ends show whether it changed in between, and when.
    private static let window: Int64 = 7 * 86_400

    /// A period of constant offset that contains the moment: at most a week, and perhaps shorter than possible.
    ///
    /// Queries the time zone database several times. Keep the result as long as its range contains the moments needed,
    /// as `OffsetCache` does.
    public func offset(at moment: Timestamp) -> OffsetPeriod {
        let clamped = min(max(moment, .earliest), .latest)
        let second = clamped.milliseconds.flooredQuotient(by: 1000).quotient
        let lower = second - second.flooredQuotient(by: Self.window).remainder
        let upper = lower + Self.window
        let (first, last) = (secondsFromUTC(at: lower), secondsFromUTC(at: upper))
        let turn = first == last ? upper : turningPoint(from: first, between: lower, and: upper)
        let range = second < turn ? (lower, turn) : (turn, upper)
        // Outside the years that have a text, the nearest offset applies without end.
        return OffsetPeriod(
            seconds: second < turn ? first : last,
            range: Timestamp(
                milliseconds: moment < clamped ? .min : range.0 * 1000)..<Timestamp(
                    milliseconds: moment > clamped ? .max : range.1 * 1000))
    }

    /// The first second after `lower` with an offset other than `first`; `upper` if there is none.
    private func turningPoint(from first: Int, between lower: Int64, and upper: Int64) -> Int64 {
        var (before, after) = (lower, upper)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if secondsFromUTC(at: middle) == first { before = middle } else { after = middle }
        }
        return after
    }

    private func secondsFromUTC(at second: Int64) -> Int {
        timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
    }

    /// The local date at that moment.
    public func day(of moment: Timestamp) -> LocalDay { offset(at: moment).day(of: moment) }

    /// Minutes from local midnight at that moment, 0–1439.
    public func minuteOfDay(_ moment: Timestamp) -> Int { offset(at: moment).minuteOfDay(moment) }

    /// The moments of a date, up to the first of the next date.
    ///
    /// The range begins when local clocks first show the date, at 01:00 if midnight is skipped. It is empty if the zone
    /// skipped the whole date (Samoa on 2011-12-30). Where clocks were turned back over midnight (Newfoundland until
    /// 2011, one minute after it), the repeated part of the previous evening belongs to the new date.
    public func bounds(of day: LocalDay) -> Range<Timestamp> {
        let lower = moment(on: day, minute: 0)
        return lower..<max(lower, moment(on: day.advanced(by: 1), minute: 0))
    }

    /// The first moment at which local clocks show this minute of the date, or a later one if it is skipped. `minute`
    /// is 0–1440 from midnight; 1440 is the start of the next date.
    public func moment(on day: LocalDay, minute: Int) -> Timestamp {
        let date = min(max(day, .earliest), .latest.advanced(by: 1))
        let wanted = Int64(date.number) * Timestamp.millisecondsPerDay + Int64(minute) * 60_000
        // No zone was ever off by more than 16 hours: a day earlier its clocks surely showed less.
        var period = offset(at: Timestamp(milliseconds: wanted - Timestamp.millisecondsPerDay))
        while true {
            let candidate = Timestamp(milliseconds: wanted - Int64(period.seconds) * 1000)
            if candidate < period.range.upperBound { return max(candidate, period.range.lowerBound) }
            period = offset(at: period.range.upperBound)
        }
    }
}
