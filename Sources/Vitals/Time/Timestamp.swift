/// A moment in whole milliseconds since 1970-01-01T00:00:00Z without leap seconds (Unix time): the resolution of all
/// wires and of the store.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970 UTC; negative before.
    public var milliseconds: Int64

    /// A moment from Unix time in milliseconds.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// A moment from Unix time in whole seconds. Saturates at the bounds of `Int64`, since devices may send nonsense.
    public init(seconds: Int64) { self.milliseconds = seconds.saturatingProduct(1000) }

    /// Orders by time, ascending.
    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// The moment `duration` later; fractions of a millisecond are dropped. Saturates at the bounds of `Int64`.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds.saturatingSum(duration.inMilliseconds))
    }

    /// The moment `duration` earlier; fractions of a millisecond are dropped. Saturates at the bounds of `Int64`.
    public static func - (moment: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds.saturatingDifference(duration.inMilliseconds))
    }

    /// The time from `earlier` to `later`, negative if they are the other way round. Saturates at the bounds of `Int64`.
    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds.saturatingDifference(earlier.milliseconds))
    }
}

extension FixedWidthInteger where Self: SignedInteger {
    /// The sum, clamped to the bounds of the type. Nonsense from devices is refused later.
    func saturatingSum(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The product, clamped to the bounds of the type.
    func saturatingProduct(_ other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// The difference, clamped to the bounds of the type.
    func saturatingDifference(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded towards zero. Saturates at the bounds of `Int64`.
    public var inMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product + attoseconds / 1_000_000_000_000_000
    }

    /// Minutes of 60 seconds. Saturates at the bounds of `Int` in seconds.
    public static func minutes(_ count: Int) -> Duration { .seconds(count.saturatingProduct(60)) }
    /// Hours of 60 minutes. Saturates at the bounds of `Int` in seconds.
    public static func hours(_ count: Int) -> Duration { .seconds(count.saturatingProduct(3600)) }
    /// Days of 24 hours; a local day may be shorter or longer (see `LocalCalendar`). Saturates at the bounds of `Int`
    /// in seconds, since a device may claim any number of history days.
    public static func days(_ count: Int) -> Duration { .seconds(count.saturatingProduct(86_400)) }
}
