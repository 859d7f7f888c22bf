package import Vitals

/// What the pages show of a gateway, which implements it. Each call answers at once from memory: it reads no store, and waits for no part.
package protocol GatewayView: Sendable {
    /// The gateway's own condition.
    var overview: GatewayOverview { get }
    /// How often something has changed that a page shows. It only grows; looking at it costs nothing, so that who waits for a change looks
    /// every second.
    var changes: Int { get }
    /// The devices, in the order of their ids.
    var devices: [DeviceID] { get }
    /// The newest states of a device.
    func overview(of device: DeviceID) -> DeviceOverview
    /// The names of the parts of the gateway itself that have not answered for longer than `limit`. Neither the broker nor a device is
    /// one.
    func stuckParts(for limit: Duration) -> [String]
    /// The names of all that is not as it should be: late parts, `start` before the devices are served, `broker`, `broker.access` where
    /// it drops what the gateway publishes, and `device.<id>` of devices that are offline.
    var late: [String] { get }
}

/// The gateway's own condition.
package struct GatewayOverview: Sendable {
    package var version: String
    package var startedAt: Timestamp
    /// The date by the gateway's clock.
    package var now: Timestamp
    /// Whether a time service keeps the clock right; `nil` if the system does not say it.
    package var isClockSynchronised: Bool?
    /// The newest `gateway/state`; `nil` before the first.
    package var state: GatewayState?
    /// Whether there is a connection with the broker now.
    package var isConnected = false
    /// What went through each lane since the start.
    package var lanes: [Lane: LaneCounts] = [:]
    /// Messages that the broker has not acknowledged.
    package var inFlight = 0
    /// Whether the last changed configuration was refused.
    package var isConfigurationRefused = false
    /// The bytes that may still be written beside the store; `nil` if the system does not say it.
    package var freeBytes: Int?

    package init(version: String, startedAt: Timestamp, now: Timestamp) {
        self.version = version
        self.startedAt = startedAt
        self.now = now
    }
}

/// The newest states of a device; what it has not reported yet is `nil`.
package struct DeviceOverview: Sendable {
    package var link: LinkState?
    package var isOnline: Bool?
    package var sync: SyncState?
    /// The newest value of each metric.
    package var latest: [LatestState] = []
    /// The silence after which it is offline.
    package var offlineAfter: Duration?

    package init() {}
}
