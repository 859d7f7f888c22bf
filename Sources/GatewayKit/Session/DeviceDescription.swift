public import Vitals

/// Who a connected device is and what it can do.
public struct DeviceDescription: Sendable, Hashable {
    /// What it says about itself.
    public var identity: DeviceIdentity
    /// What it can do.
    public var capabilities: Capabilities
    /// What its clock showed when it was asked, `nil` for a device without a readable clock.
    public var clock: DeviceClock?

    /// A device's description.
    public init(identity: DeviceIdentity, capabilities: Capabilities, clock: DeviceClock? = nil) {
        self.identity = identity
        self.capabilities = capabilities
        self.clock = clock
    }
}

/// What a device's clock shows.
public struct DeviceClock: Sendable, Hashable {
    /// The device's time.
    public var now: Timestamp
    /// The device's offset from UTC in minutes, `nil` where it does not say.
    public var utcOffset: Int?

    /// A reading of a device's clock.
    public init(now: Timestamp, utcOffset: Int? = nil) {
        self.now = now
        self.utcOffset = utcOffset
    }
}
