/// The store of hourly statistics for Home Assistant: which hours are to be computed again, and the samples for that.
package protocol StatisticsStore: Sendable {
    /// Keeps from now on what is pending, or no longer. When this begins, everything that is stored is pending.
    func keepPendingStatistics(_ isKept: Bool, at: Timestamp) async throws(StoreError)
    /// What is pending: an entry for each series that samples marked, and one for each sensor that waits by itself.
    func pendingStatistics() async throws(StoreError) -> [PendingStatistics]
    /// Replaces the hours of an entry; with `nil` nothing is pending any more. Changes nothing if the entry changed
    /// since it was read, and returns `false` then.
    func setPending(
        _ hours: ClosedRange<Hour>?, isJoining: Bool, of entry: PendingStatistics
    ) async throws(StoreError) -> Bool
    /// Replaces the entry of a series by one for each of its sensors, which widens one that is there. Changes nothing if the
    /// entry changed since it was read, and returns `false` then.
    func splitPending(_ entry: PendingStatistics, among sensors: [String]) async throws(StoreError) -> Bool
    /// Valid samples of a metric that begin within a range, in key order.
    func history(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample]
}

/// An hour of UTC, counted from 1970: the unit of Home Assistant's long-term statistics.
package struct Hour: Sendable, Hashable, Comparable, Strideable {
    package var number: Int64

    package init(number: Int64) { self.number = number }

    /// The hour that contains a moment.
    package init(of moment: Timestamp) {
        let (quotient, remainder) = moment.milliseconds.quotientAndRemainder(dividingBy: Self.milliseconds)
        number = remainder < 0 ? quotient - 1 : quotient
    }

    package var start: Timestamp { Timestamp(milliseconds: number * Self.milliseconds) }
    package var end: Timestamp { Timestamp(milliseconds: (number + 1) * Self.milliseconds) }

    package static func < (a: Hour, b: Hour) -> Bool { a.number < b.number }
    package func distance(to other: Hour) -> Int { Int(other.number - number) }
    package func advanced(by hours: Int) -> Hour { Hour(number: number + Int64(hours)) }

    private static let milliseconds: Int64 = 3_600_000
}

/// Hours of a series whose statistics are to be computed again, since late samples touched them.
package struct PendingStatistics: Sendable, Hashable {
    package var device: DeviceID
    package var metric: Metric
    /// The key of the sensor that is pending; empty for all sensors of the metric.
    package var sensor: String
    /// From the first to the last hour that was touched.
    package var hours: ClosedRange<Hour>
    /// When samples last touched them.
    package var changedAt: Timestamp
    /// Rises with each change.
    package var revision: Int64
    /// Whether all hours are imported, and only Home Assistant's own rows do not follow them yet. Then `hours` is the hour
    /// after the imported ones.
    package var isJoining: Bool

    package init(
        device: DeviceID, metric: Metric, sensor: String = "", hours: ClosedRange<Hour>, changedAt: Timestamp,
        revision: Int64, isJoining: Bool = false
    ) {
        self.device = device
        self.metric = metric
        self.sensor = sensor
        self.hours = hours
        self.changedAt = changedAt
        self.revision = revision
        self.isJoining = isJoining
    }
}
