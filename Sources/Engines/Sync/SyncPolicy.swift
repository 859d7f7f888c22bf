package import Vitals

/// When a device's history is read, and how far back.
package struct SyncPolicy: Sendable, Hashable {
    /// How far back a metric's first synchronisation goes; `nil` for everything.
    package var first: Duration?
    /// Interval at which history is read while the device is connected.
    package var every: Duration
    /// How far before its cursor a synchronisation begins, for records that appear late.
    package var overlap: Duration
    /// Whether durable records are acknowledged, so that the device may forget them. It may forget records before
    /// `first`, too.
    package var acknowledges: Bool

    /// Minimum overlap for records that last hours: the device shows them only after their end.
    package static let intervalOverlap: Duration = .days(2)
    /// How far ahead of the gateway's clock a record may be. One further ahead is stored when its time has come,
    /// and never shifted: the time is part of a record's id.
    package static let futureTolerance: Duration = .minutes(5)
    /// Maximum empty pages in a row; after more, the device counts as stuck.
    package static let maximumEmptyPages = 10
    /// Maximum pages of one metric per synchronisation: more than any device keeps, even with few records per page.
    package static let maximumPages = 100_000
    /// How long a reading's refused records wait for their gap. Meanwhile they hold the cursor back.
    package static let refusalInterval: Duration = .minutes(1)
    /// Maximum synchronisations that wait; a command that asks for one more is answered `busy`.
    package static let maximumJobs = 16
    /// Days of the device's own summaries per request, and how far back they go if no range is given.
    package static let maximumSummaryDays = 90
    /// Start of a first synchronisation of everything, 2000-01-01: no wearable is older.
    package static let epoch = Timestamp(seconds: 946_684_800)

    package init(
        first: Duration? = .days(30), every: Duration = .minutes(15), overlap: Duration = .minutes(10),
        acknowledges: Bool = true
    ) {
        self.first = first
        self.every = every
        self.overlap = overlap
        self.acknowledges = acknowledges
    }

    /// The time from which a metric is read if its newest known record starts at `cursor`.
    package func start(
        of metric: Metric, cursor: Timestamp?, maximumHistoryDays: Int?, at now: Timestamp
    ) -> Timestamp {
        let oldest = maximumHistoryDays.map { now - .days($0) - .days(1) } ?? Self.epoch
        guard let cursor else { return max(first.map { now - $0 } ?? Self.epoch, oldest) }
        return max(cursor - (metric.isInterval ? max(overlap, Self.intervalOverlap) : overlap), oldest)
    }

    /// The days whose device summaries are read, in parts to request one after the other: as far back as a command
    /// asks, else at most `maximumSummaryDays`.
    package static func summaryDays(
        from: Timestamp, to: Timestamp?, isAsked: Bool, calendar: LocalCalendar, at now: Timestamp
    ) -> [ClosedRange<LocalDay>] {
        let today = calendar.day(of: now)
        let oldest = isAsked ? calendar.day(of: epoch) : today.advanced(by: 1 - maximumSummaryDays)
        let last = to.map { min(calendar.day(of: $0), today) } ?? today
        guard oldest <= last else { return [] }
        var parts: [ClosedRange<LocalDay>] = []
        var first = max(oldest, min(calendar.day(of: from), last))
        while first <= last {
            let end = min(last, first.advanced(by: maximumSummaryDays - 1))
            parts.append(first...end)
            first = end.advanced(by: 1)
        }
        return parts
    }
}
