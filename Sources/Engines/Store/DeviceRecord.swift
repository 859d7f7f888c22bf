package import Vitals

/// Everything durable about a device but its samples.
package struct DeviceRecord: Sendable, Hashable {
    /// What the device said of itself when it was last connected.
    package var identity: DeviceIdentity?
    package var capabilities: Capabilities?
    package var hasBattery = false
    /// The newest sample of each metric by its end, whether it was published as latest or not.
    package var latest: [Metric: StoredSample] = [:]
    /// Up to where `latest` was published: the end of the newest sample that ever was.
    package var highWater: [Metric: Timestamp] = [:]
    /// The start of the newest record that a synchronisation has brought, per metric.
    package var cursors: [Metric: Timestamp] = [:]
    /// The monitoring, `nil` before the first connection or patch.
    package var twin: TwinState?
    package var levels: [AlertRule: AlertLevel] = [:]
    package var lastSeen: Timestamp?
    package var lastSyncAt: Timestamp?
    /// Days with samples that are not in their summary yet.
    package var unsettledDays: Set<MetricDay> = []

    package init() {}
}

/// One local day of one metric.
package struct MetricDay: Sendable, Hashable {
    package var metric: Metric
    package var day: LocalDay

    package init(_ metric: Metric, _ day: LocalDay) {
        self.metric = metric
        self.day = day
    }
}

/// A part of a device's state that changed.
package enum DeviceChange: Sendable, Hashable {
    case identity(DeviceIdentity, Capabilities)
    case hasBattery
    case cursor(Metric, Timestamp)
    case twin(TwinState)
    case level(AlertLevel)
    case lastSeen(Timestamp)
    case lastSync(Timestamp)
}

/// The place of a sample among those of its device and metric.
package struct SampleKey: Sendable, Hashable, Comparable {
    package var start: Timestamp
    package var end: Timestamp
    package var isUserInitiated: Bool

    package init(start: Timestamp, end: Timestamp, isUserInitiated: Bool) {
        self.start = start
        self.end = end
        self.isUserInitiated = isUserInitiated
    }

    package init(_ sample: Sample) {
        self.init(start: sample.start, end: sample.end, isUserInitiated: sample.isUserInitiated)
    }

    package static func < (a: SampleKey, b: SampleKey) -> Bool {
        if a.start != b.start { return a.start < b.start }
        if a.end != b.end { return a.end < b.end }
        return !a.isUserInitiated && b.isUserInitiated
    }
}
