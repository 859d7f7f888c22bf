/// A period in which a time zone keeps one offset from UTC.
public struct OffsetPeriod: Sendable, Hashable {
    /// Seconds by which local time is ahead of UTC; negative in the west.
    public var seconds: Int
    /// The moments with this offset.
    public var range: Range<Timestamp>

    /// A period with this offset.
    public init(seconds: Int, range: Range<Timestamp>) {
        self.seconds = seconds
        self.range = range
    }

    /// The local date at a moment of this period.
    public func day(of moment: Timestamp) -> LocalDay { LocalDay(number: Int(local(moment).quotient)) }

    /// Minutes from local midnight at a moment of this period, 0–1439.
    public func minuteOfDay(_ moment: Timestamp) -> Int { Int(local(moment).remainder / 60_000) }

    /// Local days since 1970-01-01, and milliseconds since local midnight.
    private func local(_ moment: Timestamp) -> (quotient: Int64, remainder: Int64) {
        let clamped = min(max(moment, .earliest), .latest)
        return (clamped.milliseconds + Int64(seconds) * 1000).flooredQuotient(by: Timestamp.millisecondsPerDay)
    }
}

/// A calendar that caches the last offset: for moments close together, such as those of samples, the local offset or
/// day costs one comparison.
public struct OffsetCache: Sendable {
    /// The underlying calendar.
    public let calendar: LocalCalendar
    private var period: OffsetPeriod

    /// A cache for a calendar.
    public init(_ calendar: LocalCalendar) {
        self.calendar = calendar
        period = OffsetPeriod(seconds: 0, range: .init(milliseconds: 0)..<Timestamp(milliseconds: 0))
    }

    /// The period of constant offset that contains the moment.
    public mutating func offset(at moment: Timestamp) -> OffsetPeriod {
        if !period.range.contains(moment) { period = calendar.offset(at: moment) }
        return period
    }

    /// Whole minutes by which local time is ahead of UTC, rounded down; negative in the west.
    public mutating func minutes(at moment: Timestamp) -> Int {
        offset(at: moment).seconds.flooredQuotient(by: 60).quotient
    }

    /// The local date at that moment.
    public mutating func day(of moment: Timestamp) -> LocalDay { offset(at: moment).day(of: moment) }

    /// Minutes from local midnight at that moment, 0–1439.
    public mutating func minuteOfDay(_ moment: Timestamp) -> Int { offset(at: moment).minuteOfDay(moment) }
}
