package import Vitals

/// What a device's samples amount to so far. A value: a transaction works on a copy, which holds once it is on disk.
package struct DeviceLedger: Sendable {
    /// The newest sample of each metric, by its end.
    package private(set) var latest: [Metric: StoredSample]
    /// Up to where each metric's `latest` was published.
    package private(set) var highWater: [Metric: Timestamp]

    package init(latest: [Metric: StoredSample] = [:], highWater: [Metric: Timestamp] = [:]) {
        self.latest = latest
        self.highWater = highWater
    }
}
