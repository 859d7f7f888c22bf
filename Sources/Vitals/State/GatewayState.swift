/// The gateway as a whole, as it was started.
package struct GatewayInfo: Sendable, Hashable {
    package var version: String
    /// The identity of the store: a new one means that sequence numbers begin anew.
    package var store: SampleID
    package var startedAt: Timestamp
    package var plugins: [String]
    package var devices: [DeviceID]

    package init(
        version: String, store: SampleID, startedAt: Timestamp, plugins: [String], devices: [DeviceID]
    ) {
        self.version = version
        self.store = store
        self.startedAt = startedAt
        self.plugins = plugins
        self.devices = devices
    }
}

/// How the gateway is doing.
package struct GatewayState: Sendable, Hashable {
    /// `connected` with the broker; `nil` while it is not, which no consumer sees.
    package var broker: String?
    /// Messages that wait for the broker, by lane.
    package var outbox: [Lane: Int]
    /// When the oldest of them was made.
    package var oldestUnsentAt: Timestamp?
    /// What was dropped since the store was made, by class, in the order of the classes' names.
    package var dropped: [String: Int]
    /// The size of the store's files in bytes.
    package var storeBytes: Int64
    /// Why the store did not take the last write, or else how the connection with the broker last failed.
    package var lastError: String?
    package var at: Timestamp

    /// What `broker` says.
    package static let connected = "connected"

    package init(
        broker: String?, outbox: [Lane: Int], oldestUnsentAt: Timestamp?, dropped: [String: Int], storeBytes: Int64,
        lastError: String?, at: Timestamp
    ) {
        self.broker = broker
        self.outbox = outbox
        self.oldestUnsentAt = oldestUnsentAt
        self.dropped = dropped
        self.storeBytes = storeBytes
        self.lastError = lastError
        self.at = at
    }
}
