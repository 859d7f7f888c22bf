/// Static facts about the running gateway.
package struct GatewayInfo: Sendable, Hashable {
    package var version: String
    /// The store's id. With a new id, sequence numbers start again.
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

/// The gateway's condition.
package struct GatewayState: Sendable, Hashable {
    /// `connected` to the broker; `nil` otherwise, which no consumer sees.
    package var broker: String?
    /// The version of MQTT of the connection, `5` or `3.1.1`; `nil` without one.
    package var protocolVersion: String?
    /// Messages waiting for the broker, by lane.
    package var outbox: [Lane: Int]
    /// When the oldest of these was created.
    package var oldestUnsentAt: Timestamp?
    /// Number of dropped items since the store was created, by class, sorted by class name.
    package var dropped: [String: Int]
    /// Number of facts that the broker does not take, and that are kept apart for `replay`.
    package var quarantined: Int
    /// Size of the store's files, in bytes.
    package var storeBytes: Int64
    /// Why the store's last write failed, or else why the broker connection last failed.
    package var lastError: String?
    /// The parts of the gateway that do not answer within their limits.
    package var late: [LivenessPart]
    /// The import of statistics into Home Assistant; `nil` if there is none.
    package var statistics: StatisticsState?
    package var at: Timestamp

    /// The value of `broker` when connected.
    package static let connected = "connected"

    package init(
        broker: String?, protocolVersion: String? = nil, outbox: [Lane: Int], oldestUnsentAt: Timestamp?,
        dropped: [String: Int], quarantined: Int = 0, storeBytes: Int64, lastError: String?, late: [LivenessPart] = [],
        statistics: StatisticsState? = nil, at: Timestamp
    ) {
        self.broker = broker
        self.protocolVersion = protocolVersion
        self.outbox = outbox
        self.oldestUnsentAt = oldestUnsentAt
        self.dropped = dropped
        self.quarantined = quarantined
        self.storeBytes = storeBytes
        self.lastError = lastError
        self.late = late
        self.statistics = statistics
        self.at = at
    }
}

/// The messages of a lane that have passed each stage on their way to the broker, since the start.
package struct LaneCounts: Sendable, Hashable {
    /// Committed to the store.
    package var stored = 0
    /// Handed to the connection with the broker; after a lost connection some are sent again, and count again.
    package var sent = 0
    /// Acknowledged by the broker.
    package var acknowledged = 0

    package init() {}
}

/// The state of the import of statistics into Home Assistant.
package struct StatisticsState: Sendable, Hashable {
    /// What it does. The raw value is its name on the wire.
    package enum Activity: String, CaseIterable, Sendable, Hashable {
        /// Nothing is pending, or its hours are not old enough yet.
        case idle
        /// Hours are being imported.
        case importing
        /// Home Assistant does not answer; it is tried again.
        case offline
        /// Home Assistant refused; see `problem`.
        case refused
    }
    package var activity: Activity
    /// Number of series with pending hours.
    package var due: Int
    /// When the last import of a series was complete.
    package var importedAt: Timestamp?
    /// What a person has to do something about; `nil` for nothing.
    package var problem: String?

    package init(activity: Activity, due: Int = 0, importedAt: Timestamp? = nil, problem: String? = nil) {
        self.activity = activity
        self.due = due
        self.importedAt = importedAt
        self.problem = problem
    }
}
