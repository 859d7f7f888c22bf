import GatewayKit

/// Characteristics whose values identify a device, so that they are masked as a whole.
enum MaskedCharacteristics {
    /// Device Name (Bluetooth Core Specification, Vol 3, Part C, 12.1), System ID, which has the address, and Serial Number String
    /// (Bluetooth SIG, Device Information Service 1.1, 3.2 and 3.7).
    private static let identifying: Set<BluetoothUUID> = [
        BluetoothUUID(0x2a00), BluetoothUUID(0x2a23), BluetoothUUID(0x2a25),
    ]

    /// The value as recorded.
    static func masking(_ bytes: [UInt8], of characteristic: BluetoothUUID, by mask: Mask) -> RecordedBytes {
        guard identifying.contains(characteristic), !bytes.isEmpty else { return mask.masking(bytes) }
        return RecordedBytes([UInt8](repeating: UInt8(ascii: "0"), count: bytes.count), masked: [0..<bytes.count])
    }
}
