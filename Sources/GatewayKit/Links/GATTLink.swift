/// A Bluetooth Low Energy connection to one device (Bluetooth Core Specification, Generic Attribute Profile).
public protocol GATTLink: Sendable {
    /// The services of the device with their characteristics, as discovered when connecting.
    var services: [GATTService] { get }
    /// The greatest payload of one write or notification, in bytes: the negotiated ATT MTU less 3.
    var maximumPayload: Int { get }
    /// Reads a characteristic's value.
    func read(_ characteristic: GATTCharacteristic) async throws(LinkError) -> [UInt8]
    /// Writes a characteristic's value. If `isAcknowledged`, returns only after the device has confirmed the write.
    func write(_ bytes: [UInt8], to characteristic: GATTCharacteristic, isAcknowledged: Bool) async throws(LinkError)
    /// Switches notifications or indications of a characteristic on or off.
    func setNotifying(_ isNotifying: Bool, for characteristic: GATTCharacteristic) async throws(LinkError)
    /// Waits for the next notification of any characteristic; `nil` when the connection has ended. One task waits at a time.
    func nextNotification() async throws(LinkError) -> GATTNotification?
    /// The signal strength in dBm, `nil` if unknown.
    func signalStrength() async -> Int?
}

/// A service of a device.
public struct GATTService: Sendable, Hashable {
    /// The service's UUID, in lower case and with hyphens; a 16-bit UUID in its 128-bit form.
    public var uuid: String
    /// Its characteristics.
    public var characteristics: [GATTCharacteristic]
    /// A service.
    public init(uuid: String, characteristics: [GATTCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic of a service.
public struct GATTCharacteristic: Sendable, Hashable {
    /// The UUID of its service.
    public var service: String
    /// The characteristic's UUID, in the format of a service's.
    public var uuid: String
    /// The attribute handle of its value, which distinguishes two characteristics with the same UUID.
    public var handle: UInt16
    /// A characteristic.
    public init(service: String, uuid: String, handle: UInt16) {
        self.service = service
        self.uuid = uuid
        self.handle = handle
    }
}

/// A value that a device sent unasked.
public struct GATTNotification: Sendable, Hashable {
    /// The characteristic whose value it is.
    public var characteristic: GATTCharacteristic
    /// The value.
    public var bytes: [UInt8]
    /// A notification.
    public init(characteristic: GATTCharacteristic, bytes: [UInt8]) {
        self.characteristic = characteristic
        self.bytes = bytes
    }
}
