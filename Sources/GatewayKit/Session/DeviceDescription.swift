public import Vitals

/// The identity and the capabilities of a connected device.
public struct DeviceDescription: Sendable, Hashable {
    /// The identity that it reports.
    public var identity: DeviceIdentity
    /// What it can do.
    public var capabilities: Capabilities
    /// Its clock's reading when the session opened, `nil` for a device without a readable clock.
    public var clock: DeviceClock?
    /// Which of its records counts where two of them overlap.
    public var overlaps: OverlapRule

    /// A device's description.
    public init(
        identity: DeviceIdentity, capabilities: Capabilities, clock: DeviceClock? = nil,
        overlaps: OverlapRule = .latestEnd
    ) {
        self.overlaps = overlaps
        self.identity = identity
        self.capabilities = capabilities
        self.clock = clock
    }
}

/// A reading of a device's clock.
public struct DeviceClock: Sendable, Hashable {
    /// The device's time.
    public var now: Timestamp
    /// The device's offset from UTC in minutes, `nil` if it reports none.
    public var utcOffset: Int?

    /// A reading of a device's clock.
    public init(now: Timestamp, utcOffset: Int? = nil) {
        self.now = now
        self.utcOffset = utcOffset
    }
}
