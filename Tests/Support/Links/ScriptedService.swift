package import GatewayKit

/// A service of a scripted Bluetooth device.
package struct ScriptedService: Sendable {
    /// The service's identifier.
    package var uuid: BluetoothUUID
    /// Its characteristics.
    package var characteristics: [ScriptedCharacteristic]

    /// A service with an identifier of the Bluetooth SIG.
    package init(_ short: UInt16, _ characteristics: [ScriptedCharacteristic]) {
        self.init(BluetoothUUID(short), characteristics)
    }

    /// A service with any identifier.
    package init(_ uuid: BluetoothUUID, _ characteristics: [ScriptedCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic of a scripted Bluetooth device.
package struct ScriptedCharacteristic: Sendable {
    /// The characteristic's identifier.
    package var uuid: BluetoothUUID
    /// What may be done with it.
    package var properties: GATTProperties
    /// The value that is read.
    package var value: [UInt8]

    /// A characteristic with an identifier of the Bluetooth SIG.
    package init(_ short: UInt16, _ properties: GATTProperties, _ value: [UInt8] = []) {
        self.init(BluetoothUUID(short), properties, value)
    }

    /// A characteristic with any identifier.
    package init(_ uuid: BluetoothUUID, _ properties: GATTProperties, _ value: [UInt8] = []) {
        self.uuid = uuid
        self.properties = properties
        self.value = value
    }
}
