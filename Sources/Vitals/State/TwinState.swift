/// A device's monitoring as the gateway wants it and as the device has it.
package struct TwinState: Sendable, Hashable {
    /// What was accepted; `nil` until the device was connected for the first time.
    package var desired: MonitorSettings?
    /// Rises with each accepted change, from 1.
    package var version: Int
    /// What the device confirmed by read-back.
    package var reported: MonitorSettings
    /// The version that the device has confirmed, 0 before the first.
    package var reportedVersion: Int
    /// Settings that were accepted and that the device has not confirmed yet.
    package var pending: Set<MonitorSetting>
    /// Settings that somebody changed on the device itself. They are shown and never overwritten by themselves.
    package var drift: Set<MonitorSetting>
    /// Why the device did not take the settings, for a person.
    package var error: String?
    package var updatedAt: Timestamp
    /// A patch that was accepted before the device was ever connected; it is merged into what it reports then.
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
