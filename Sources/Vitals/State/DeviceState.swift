/// A part of a device's state as published. Only the newest of each part matters.
///
/// Indirect, because a table holds several per device, and most are small.
package indirect enum DeviceState: Sendable, Hashable {
    case info(DeviceInfo)
    case availability(isOnline: Bool)
    case link(LinkState)
    case latest(LatestState)
    /// The running local day of a metric.
    case today(DayRecord)
    case level(AlertLevel)
    case config(TwinState)
    case sync(SyncState)
    case measure(MeasureState)
    case wear(WearState)
    /// Only of a device whose passkey a person types.
    case pairing(PairingState)
    /// Only of a device that several persons use, or whose samples wait.
    case whose(WhoseState)

    /// The parts of the state.
    package enum Part: Sendable, Hashable {
        case info, availability, link, config, sync, measure, wear, pairing, whose
        case latest(Metric)
        case today(Metric)
        case level(AlertRule)
    }

    package var part: Part {
        switch self {
        case .info: .info
        case .availability: .availability
        case .link: .link
        case .latest(let state): .latest(state.stored.sample.metric)
        case .today(let record): .today(record.summary.metric)
        case .level(let level): .level(level.rule)
        case .config: .config
        case .sync: .sync
        case .measure: .measure
        case .wear: .wear
        case .pairing: .pairing
        case .whose: .whose
        }
    }
}

/// State of the connection with a device.
package struct LinkState: Sendable, Hashable {
    /// The phases of a connection. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case disabled, connecting, connected, waiting }

    /// The phase.
    package var phase: Phase
    /// When the phase began.
    package var since: Timestamp
    /// Attempts to connect since the last connection.
    package var attempts: Int
    /// Radio signal strength in dBm, if the link has one.
    package var signalStrength: Int?
    /// How far the device's clock was ahead of the gateway's at the connection, in seconds.
    package var clockSkew: Double?
    /// Why the last connection failed or broke, as text for people.
    package var lastError: String?

    package init(
        phase: Phase, since: Timestamp, attempts: Int = 0, signalStrength: Int? = nil, clockSkew: Double? = nil,
        lastError: String? = nil
    ) {
        self.phase = phase
        self.since = since
        self.attempts = attempts
        self.signalStrength = signalStrength
        self.clockSkew = clockSkew
        self.lastError = lastError
    }
}

/// The pairing of a device whose passkey a person types.
package struct PairingState: Sendable, Hashable {
    /// The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable {
        /// No passkey is requested.
        case idle
        /// The device shows a passkey, and waits for it.
        case passkey
        /// The device has the passkey, and checks it.
        case checking
        case paired
        case failed
    }

    package var phase: Phase
    /// Until when the passkey can be given; `nil` if it is not asked for.
    package var until: Timestamp?
    /// Why the pairing has failed.
    package var message: String?
    package var at: Timestamp

    package init(_ phase: Phase, until: Timestamp? = nil, message: String? = nil, at: Timestamp) {
        self.phase = phase
        self.until = until
        self.message = message
        self.at = at
    }
}

/// Whether a device is worn and charging, as last reported.
package struct WearState: Sendable, Hashable {
    /// `nil` if not reported since the connection.
    package var isWorn: Bool?
    /// `nil` if not reported since the connection.
    package var isCharging: Bool?
    /// When this changed.
    package var at: Timestamp

    package init(isWorn: Bool? = nil, isCharging: Bool? = nil, at: Timestamp) {
        self.isWorn = isWorn
        self.isCharging = isCharging
        self.at = at
    }
}

/// The newest sample of a metric, or that none is fresh.
package struct LatestState: Sendable, Hashable {
    /// The newest sample.
    package var stored: StoredSample
    /// When it goes stale; `nil` for never.
    package var freshUntil: Timestamp?
    /// Whether it is stale and therefore published without its value.
    package var isStale: Bool

    package init(stored: StoredSample, freshUntil: Timestamp?, isStale: Bool) {
        self.stored = stored
        self.freshUntil = freshUntil
        self.isStale = isStale
    }
}

/// State of the running measurement, or the result of the last one.
package struct MeasureState: Sendable, Hashable {
    /// The phases. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case idle, starting, measuring, ended, failed }

    package var phase: Phase
    package var metric: Metric?
    package var startedAt: Timestamp?
    /// The newest reading.
    package var newest: Sample?
    /// Number of readings that the gateway refused as implausible.
    package var refused: Int
    /// Why the measurement failed or was interrupted, or why its newest reading failed, as text for people.
    package var error: String?

    package init(
        phase: Phase = .idle, metric: Metric? = nil, startedAt: Timestamp? = nil, newest: Sample? = nil,
        refused: Int = 0, error: String? = nil
    ) {
        self.phase = phase
        self.metric = metric
        self.startedAt = startedAt
        self.newest = newest
        self.refused = refused
        self.error = error
    }
}

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
