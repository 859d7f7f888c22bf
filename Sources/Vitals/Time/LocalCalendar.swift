public import Foundation

/// Computes local days and offsets in one time zone, with days of 23 and 25 hours where the zone has them.
public struct LocalCalendar: Sendable, Hashable {
    /// The zone.
    public let timeZone: TimeZone

    /// A calendar of a zone.
    public init(timeZone: TimeZone) { self.timeZone = timeZone }
}
