public import Logging
public import Vitals

/// The surroundings that a driver gets when the gateway opens a session.
public struct SessionContext: Sendable {
    /// The device's identifier.
    public var device: DeviceID
    /// The gateway's name and version, for devices that ask for them.
    public var gateway: (name: String, version: String)
    /// The local day and the offset from UTC, in the configured time zone.
    public var calendar: LocalCalendar
    /// The gateway's clocks; a driver uses no others.
    public var clock: GatewayClock
    /// A logger that names the device.
    public var logger: Logger
    /// The open services of plugins, for a driver that uses one.
    public var services: RunningServices
    /// What the driver keeps of the device beyond the end of the gateway.
    public var notes: DeviceNotes
    /// The messages of the broker that the driver takes itself (`MessageDriver`).
    package var documents = DocumentQueue()

    /// A context of a session.
    public init(
        device: DeviceID, gateway: (name: String, version: String), calendar: LocalCalendar, clock: GatewayClock,
        logger: Logger, services: RunningServices = RunningServices(), notes: DeviceNotes = DeviceNotes()
    ) {
        self.notes = notes
        self.services = services
        self.device = device
        self.gateway = gateway
        self.calendar = calendar
        self.clock = clock
        self.logger = logger
    }
}

/// The surroundings that a transport gets when the gateway opens a link.
public struct LinkContext: Sendable {
    /// The device's identifier.
    public var device: DeviceID
    /// A logger that names the device.
    public var logger: Logger
    /// The open services of plugins, for a transport that uses one.
    public var services: RunningServices
    /// Where a transport reports that the device can be reached, so that the gateway does not wait to connect it.
    public var presence: DevicePresence
    /// Where a transport asks a person for a device's passkey.
    public var passkeys = PasskeyRequests()
    /// The messages of the transport's topics (`Transport.topics`).
    package var documents = DocumentQueue()
    /// The devices that may post to the gateway's own listener, for a transport whose devices do (`PostTransport`).
    package var senders = ExpectedSenders()
    /// Returns when the driver has work before the device sends anything (`WorkingDriver`); `nil` for a driver that never has.
    package var work: (@Sendable () async -> Void)?
    /// The kind of link that the driver needs, for a transport that can open several.
    package var kind: LinkKind?
    /// The gateway's clocks, for a transport that waits.
    package var clock = GatewayClock.system

    /// A context of a link.
    public init(
        device: DeviceID, logger: Logger, services: RunningServices = RunningServices(),
        presence: DevicePresence = DevicePresence()
    ) {
        self.presence = presence
        self.device = device
        self.logger = logger
        self.services = services
    }
}
