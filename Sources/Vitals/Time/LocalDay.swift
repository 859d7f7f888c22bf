/// A date of the proleptic Gregorian calendar, without a time zone.
public struct LocalDay: Sendable, Hashable, Comparable {
    /// Days since 1970-01-01; negative before.
    public var number: Int

    /// The date this many days after 1970-01-01.
    public init(number: Int) { self.number = number }

    /// Orders by date, ascending.
    public static func < (a: LocalDay, b: LocalDay) -> Bool { a.number < b.number }

    /// The date `days` later.
    public func advanced(by days: Int) -> LocalDay { LocalDay(number: number + days) }
}
