package import Vitals

/// The unit of a table's TIMESTAMP.
package enum TimeUnit: Int64, Sendable, Hashable {
    case milliseconds = 1
    case seconds = 1000

    /// Milliseconds of any day after March 1973 are above it, and seconds of any before the year 5138 below.
    package static let boundary: Int64 = 100_000_000_000

    /// The unit of a number that is a time.
    package init(of number: Int64) { self = number >= Self.boundary ? .milliseconds : .seconds }

    /// The numbers that are a time of a wearable, from 2000 until before 2100. No number is one in both units, and no clock is asked.
    package var usable: Range<Int64> { 946_684_800_000 / rawValue..<4_102_444_800_000 / rawValue }

    package func moment(_ number: Int64) -> Timestamp {
        Timestamp(milliseconds: self == .seconds ? number.multipliedReportingOverflow(by: 1000).0 : number)
    }

    /// The first number whose moment is not before this one.
    package func number(notBefore moment: Timestamp) -> Int64 {
        let (quotient, remainder) = moment.milliseconds.quotientAndRemainder(dividingBy: rawValue)
        return remainder > 0 ? quotient + 1 : quotient
    }
}
