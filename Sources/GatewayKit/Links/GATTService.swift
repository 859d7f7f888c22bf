/// A service of a device.
public struct GATTService: Sendable, Hashable {
    /// The service's identifier.
    public var uuid: BluetoothUUID
    /// Its characteristics, in the order of their handles.
    public var characteristics: [GATTCharacteristic]
    /// A service.
    public init(uuid: BluetoothUUID, characteristics: [GATTCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic of a service.
public struct GATTCharacteristic: Sendable, Hashable {
    /// The identifier of its service.
    public var service: BluetoothUUID
    /// The characteristic's identifier.
    public var uuid: BluetoothUUID
    /// The attribute handle of its value, which distinguishes two characteristics with the same identifier.
    public var handle: UInt16
    /// What may be done with it.
    public var properties: GATTProperties
    /// A characteristic.
    public init(service: BluetoothUUID, uuid: BluetoothUUID, handle: UInt16, properties: GATTProperties) {
        self.service = service
        self.uuid = uuid
        self.handle = handle
        self.properties = properties
    }
}

/// The properties of a characteristic: the bits of its declaration (Bluetooth Core Specification, Vol 3, Part G, 3.3.1.1).
public struct GATTProperties: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8
    /// Properties with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It can be read.
    public static let read = GATTProperties(rawValue: 0x02)
    /// It can be written without a response.
    public static let writeWithoutResponse = GATTProperties(rawValue: 0x04)
    /// It can be written with a response.
    public static let write = GATTProperties(rawValue: 0x08)
    /// The device sends its values without waiting for a confirmation.
    public static let notify = GATTProperties(rawValue: 0x10)
    /// The device sends its values and waits for the confirmation of each.
    public static let indicate = GATTProperties(rawValue: 0x20)

    /// Whether the device can send its values.
    public var canSubscribe: Bool { !isDisjoint(with: [.notify, .indicate]) }
}
