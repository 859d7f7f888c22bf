/// Everything stored about a device except its samples.
package struct DeviceRecord: Sendable, Hashable {
    /// What the device reported at its last connection.
    package var identity: DeviceIdentity?
    package var capabilities: Capabilities?
    /// What the device has ever reported beside samples.
    package var features: DeviceFeatures = []
    /// The newest sample of each metric by its end, whether it was published as latest or not.
    package var latest: [Metric: StoredSample] = [:]
    /// Up to where `latest` was published: the end of the newest sample ever.
    package var highWater: [Metric: Timestamp] = [:]
    /// The start of the newest record synchronised, per metric.
    package var cursors: [Metric: Timestamp] = [:]
    /// The monitoring; `nil` before the first connection or patch.
    package var twin: TwinState?
    package var levels: [AlertRule: AlertLevel] = [:]
    package var lastSeen: Timestamp?
    package var lastSyncAt: Timestamp?
    /// Days with samples missing from their summaries.
    package var unsettledDays: Set<MetricDay> = []
    /// What was erased, and is not taken again.
    package var erasures = Erasures()

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
    /// Everything that the device has ever reported beside samples.
    case features(DeviceFeatures)
    case cursor(Metric, Timestamp)
    case twin(TwinState)
    case level(AlertLevel)
    case lastSeen(Timestamp)
    case lastSync(Timestamp)
    /// What was erased is taken again from this moment on, so the device's history is read anew.
    case takenAgain(from: Timestamp)
}
