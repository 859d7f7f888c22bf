package import Vitals

/// When and how far back a device's history is read.
package struct SyncPolicy: Sendable, Hashable {
    /// How far back the first synchronisation of a metric goes; `nil` for everything.
    package var first: Duration?
    /// How often history is read while the device is connected.
    package var every: Duration
    /// How far before its cursor a synchronisation begins, for records that appear late.
    package var overlap: Duration
    /// Whether the device is told what is durable, so that it may forget it. What lies before `first` it may forget, too.
    package var acknowledges: Bool

    /// Records that last hours appear on the device after they end: they are looked for at least so far back.
    package static let intervalOverlap: Duration = .days(2)
    /// A record may be so far ahead of our clock; one further ahead is taken when its time has come.
    package static let futureTolerance: Duration = .minutes(5)
    /// A page may be empty, but not so many one after another: the device is stuck.
    package static let maximumEmptyPages = 10
    /// Pages of one metric in one synchronisation: twenty million records, more than any device keeps.
    package static let maximumPages = 10_000
    /// Before it no wearable was made: where a first synchronisation of everything begins (2000-01-01).
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

    /// From where a metric is read when its newest known record starts at `cursor`.
    package func start(
        of metric: Metric, cursor: Timestamp?, maximumHistoryDays: Int?, at now: Timestamp
    ) -> Timestamp {
        let oldest = maximumHistoryDays.map { now - .days($0) - .days(1) } ?? Self.epoch
        guard let cursor else { return max(first.map { now - $0 } ?? Self.epoch, oldest) }
        return max(cursor - (metric.isInterval ? max(overlap, Self.intervalOverlap) : overlap), oldest)
    }
}
