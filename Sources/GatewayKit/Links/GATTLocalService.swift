/// A service that the gateway offers to a device, such as the current time to a cuff that asks for it.
public struct GATTLocalService: Sendable {
    /// The service's identifier.
    public var uuid: BluetoothUUID
    /// Its characteristics.
    public var characteristics: [GATTLocalCharacteristic]
    /// A service of the gateway.
    public init(uuid: BluetoothUUID, characteristics: [GATTLocalCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic that a device may read from the gateway.
public struct GATTLocalCharacteristic: Sendable {
    /// The characteristic's identifier.
    public var uuid: BluetoothUUID
    /// Gives the value of the moment, each time the device reads it. It must not wait.
    public var value: @Sendable () -> [UInt8]
    /// A readable characteristic of the gateway.
    public init(uuid: BluetoothUUID, value: @escaping @Sendable () -> [UInt8]) {
        self.uuid = uuid
        self.value = value
    }
}
