public import Foundation

/// Computes local days and offsets in one time zone, with days of 23 and 25 hours where the zone has them.
public struct LocalCalendar: Sendable, Hashable {
    /// The zone.
    public let timeZone: TimeZone

    /// A calendar of a zone.
    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// A calendar of the zone of this name in the IANA database, such as `Europe/Berlin`; `nil` where there is none.
    public init?(identifier: String) {
        guard let timeZone = TimeZone(identifier: identifier) else { return nil }
        self.timeZone = timeZone
    }

    /// The zone's name, such as `Europe/Berlin`.
    public var identifier: String { timeZone.identifier }

    /// How much of a zone's time one answer of `offset(at:)` may cover. No zone has turned its clocks twice within a week
    /// since 1970, so the offsets at both ends tell whether they were turned in between, and when.
    private static let window: Int64 = 7 * 86_400

    /// A period of constant offset that contains the moment: at most a week, and not always as long as it could be.
    ///
    /// It asks the time zone database several times. Keep the answer while its range contains the moments to come, as
    /// `OffsetCache` does.
    public func offset(at moment: Timestamp) -> OffsetPeriod {
        let clamped = min(max(moment, .earliest), .latest)
        let second = clamped.milliseconds.flooredQuotient(by: 1000).quotient
        let lower = second - second.flooredQuotient(by: Self.window).remainder
        let upper = lower + Self.window
        let (first, last) = (secondsFromUTC(at: lower), secondsFromUTC(at: upper))
        let turn = first == last ? upper : turningPoint(from: first, between: lower, and: upper)
        let range = second < turn ? (lower, turn) : (turn, upper)
        // Beyond the years that have a text, the nearest offset holds without end.
        return OffsetPeriod(
            seconds: second < turn ? first : last,
            range: Timestamp(
                milliseconds: moment < clamped ? .min : range.0 * 1000)..<Timestamp(
                    milliseconds: moment > clamped ? .max : range.1 * 1000))
    }

    /// The first second after `lower` at which the offset is no longer `first`, up to `upper` where it is not.
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

    /// The date on a wall calendar at that moment.
    public func day(of moment: Timestamp) -> LocalDay { offset(at: moment).day(of: moment) }

    /// Minutes from midnight on a wall clock at that moment, 0–1439.
    public func minuteOfDay(_ moment: Timestamp) -> Int { offset(at: moment).minuteOfDay(moment) }

    /// The moments of a date: from its first to the first of the next.
    ///
    /// It begins when the zone's clocks first show the date, at 01:00 where midnight is skipped, and is empty where a zone
    /// left a whole date out (Samoa on 2011-12-30). Where clocks were turned back over midnight (Newfoundland until
    /// 2011, one minute after it), the repeated part of the evening before lies within the new date.
    public func bounds(of day: LocalDay) -> Range<Timestamp> {
        let lower = moment(on: day, minute: 0)
        return lower..<max(lower, moment(on: day.advanced(by: 1), minute: 0))
    }

    /// The first moment at which the zone's clocks show this minute of the date, or a later one where it is skipped.
    /// `minute` is 0–1440 from midnight; 1440 is the next date's beginning.
    public func moment(on day: LocalDay, minute: Int) -> Timestamp {
        let date = min(max(day, .earliest), .latest.advanced(by: 1))
        let wanted = Int64(date.number) * Timestamp.millisecondsPerDay + Int64(minute) * 60_000
        // No zone was ever more than 16 hours off; a day earlier its clocks surely showed less.
        var period = offset(at: Timestamp(milliseconds: wanted - Timestamp.millisecondsPerDay))
        while true {
            let candidate = Timestamp(milliseconds: wanted - Int64(period.seconds) * 1000)
            if candidate < period.range.upperBound { return max(candidate, period.range.lowerBound) }
            period = offset(at: period.range.upperBound)
        }
    }
}
