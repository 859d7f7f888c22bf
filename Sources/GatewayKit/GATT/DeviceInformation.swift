/// The Device Information Service and its characteristics (Bluetooth SIG, Assigned Numbers, 3.4 and 3.8).
public enum DeviceInformation {
    /// The service.
    public static let service = BluetoothUUID(0x180a)
    /// The model, as the maker calls it.
    public static let model = BluetoothUUID(0x2a24)
    /// The serial number.
    public static let serial = BluetoothUUID(0x2a25)
    /// The revision of the firmware.
    public static let firmware = BluetoothUUID(0x2a26)
    /// The revision of the hardware.
    public static let hardware = BluetoothUUID(0x2a27)
    /// The name of the maker.
    public static let manufacturer = BluetoothUUID(0x2a29)
}

extension BluetoothUUID {
    /// The identifier with these 128 bits: its first eight bytes as written, and its last. For the services of a maker, which have no 16
    /// bits of the Bluetooth SIG.
    public init(_ high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension GATTCharacteristic {
    /// How it is written with the shortest wait: without a response if it has that property, for a device that answers by its own values.
    public var fastestWrite: GATTWrite { properties.contains(.writeWithoutResponse) ? .withoutResponse : .withResponse }
}
