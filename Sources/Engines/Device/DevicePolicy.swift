package import Vitals

/// The settings by which a device's engines decide.
package struct DevicePolicy: Sendable {
    package var sync: SyncPolicy
    package var alerts: AlertPolicy
    /// How long a metric's value is fresh; a metric without entry is always fresh.
    package var freshness: [Metric: Duration]
    /// Silence after which a device is offline.
    package var offlineAfter: Duration
    package var calendar: LocalCalendar

    package init(
        sync: SyncPolicy = SyncPolicy(), alerts: AlertPolicy = AlertPolicy(),
        freshness: [Metric: Duration] = Dictionary(
            uniqueKeysWithValues: Metric.allCases.compactMap { metric in metric.defaultFreshness.map { (metric, $0) } }),
        offlineAfter: Duration = .hours(24), calendar: LocalCalendar
    ) {
        self.sync = sync
        self.alerts = alerts
        self.freshness = freshness
        self.offlineAfter = offlineAfter
        self.calendar = calendar
    }
}
