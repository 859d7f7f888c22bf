/// Why a device's record is not stored. The raw value is the name on the wire.
package enum RefusalReason: String, CaseIterable, Sendable, Hashable {
    /// It ends before it starts.
    case endBeforeStart = "end_before_start"
    /// It lasts longer than any plausible record.
    case tooLong = "too_long"
    /// A value or a time is implausible.
    case outOfRange = "out_of_range"
    /// It is in the future, by the gateway's clock.
    case future
    /// It cannot be read, or belongs to another metric.
    case malformed
    /// A live sample that was dropped: the store took none, and too many waited for it.
    case notStored = "not_stored"
}

/// Refused records of one metric, by reason.
package struct Refusals: Sendable, Hashable {
    package private(set) var counts: [RefusalReason: Int] = [:]
    /// The earliest start and the latest end of records with known times.
    package private(set) var from: Timestamp?
    package private(set) var to: Timestamp?
    /// The latest start of records with known times.
    package private(set) var through: Timestamp?

    package init() {}

    /// Number of refused records.
    package var count: Int { counts.values.reduce(0, +) }
    package var isEmpty: Bool { counts.isEmpty }

    /// Counts a record.
    package mutating func add(_ reason: RefusalReason, start: Timestamp, end: Timestamp) {
        counts[reason, default: 0] += 1
        from = min(from ?? start, start, end)
        to = max(to ?? end, start, end)
        through = max(through ?? start, start)
    }

    /// Adds the records of another count.
    package mutating func add(_ other: Refusals) {
        counts.merge(other.counts, uniquingKeysWith: +)
        from = [from, other.from].compactMap { $0 }.min()
        to = [to, other.to].compactMap { $0 }.max()
        through = [through, other.through].compactMap { $0 }.max()
    }

    /// Counts records without known times.
    package mutating func add(_ reason: RefusalReason, count: Int) {
        if count > 0 { counts[reason, default: 0] += count }
    }
}
