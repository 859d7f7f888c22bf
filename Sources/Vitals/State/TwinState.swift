/// A device's monitoring, as wanted by the gateway and as reported by the device.
package struct TwinState: Sendable, Hashable {
    /// The accepted settings; `nil` before the first connection.
    package var desired: MonitorSettings?
    /// Increases with each accepted change, from 1.
    package var version: Int
    /// The settings that the device confirmed by read-back.
    package var reported: MonitorSettings
    /// The version that the device has confirmed; 0 before the first.
    package var reportedVersion: Int
    /// Accepted settings that the device has not confirmed yet.
    package var pending: Set<MonitorSetting>
    /// Settings changed on the device itself. They are published, and never overwritten automatically.
    package var drift: Set<MonitorSetting>
    /// Why the device did not take the settings, as text for people.
    package var error: String?
    package var updatedAt: Timestamp
    /// A patch accepted before the first connection, to be merged into what the device then reports.
    package var waiting: MonitorPatch?

    package init(
        desired: MonitorSettings? = nil, version: Int = 0, reported: MonitorSettings = MonitorSettings(),
        reportedVersion: Int = 0, pending: Set<MonitorSetting> = [], drift: Set<MonitorSetting> = [],
        error: String? = nil, updatedAt: Timestamp, waiting: MonitorPatch? = nil
    ) {
        self.desired = desired
        self.version = version
        self.reported = reported
        self.reportedVersion = reportedVersion
        self.pending = pending
        self.drift = drift
        self.error = error
        self.updatedAt = updatedAt
        self.waiting = waiting
    }
}
