/// A moment, in whole milliseconds since 1970-01-01T00:00:00Z without leap seconds (Unix time): the resolution of all
/// wires and of the store.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970 UTC; negative before.
    public var milliseconds: Int64

    /// A moment from Unix time in milliseconds.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// A moment from Unix time in whole seconds.
    public init(seconds: Int64) { self.milliseconds = seconds * 1000 }

    /// Orders by time or text, ascending.
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
    /// The sum, or the bound of the type that it would pass: devices send nonsense, which is refused later.
    func saturatingSum(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The product, or the bound of the type that it would pass.
    func saturatingProduct(_ other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// The difference, or the bound of the type that it would pass.
    func saturatingDifference(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// The duration in whole milliseconds, towards zero. Saturates at the bounds of `Int64`.
    public var inMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product + attoseconds / 1_000_000_000_000_000
    }

    /// A duration of minutes of 60 seconds. Saturates at the bounds of `Int` in seconds.
    public static func minutes(_ count: Int) -> Duration { .seconds(count.saturatingProduct(60)) }
    /// A duration of hours of 60 minutes. Saturates at the bounds of `Int` in seconds.
    public static func hours(_ count: Int) -> Duration { .seconds(count.saturatingProduct(3600)) }
    /// A duration of days of 24 hours; a local day may be shorter or longer (see `LocalCalendar`). Saturates at the bounds of
    /// `Int` in seconds: a device may say that it keeps its history for as many days as it likes.
    public static func days(_ count: Int) -> Duration { .seconds(count.saturatingProduct(86_400)) }
}
