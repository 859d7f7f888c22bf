import GatewayKit

/// The meaning of a proxy's errors, with the remedy: those of the Attribute Protocol, and those of ESP-IDF's Bluedroid
/// (`esp_gatt_defs.h`, `esp_gap_ble_api.h`) and of the radio (Bluetooth Core Specification, Vol 1, Part F).
extension APIAttributeError {
    /// What a device or the proxy's stack refuses; `nil` if there is no connection to the device.
    var refusal: ATTError? {
        switch error {
        // Bluedroid: the authentication failed; the connection is encrypted without a passkey; it is not encrypted.
        case 0x89, 0x8d: .insufficientAuthentication
        case 0x8e: .insufficientEncryption
        case 1...0xff: ATTError(code: UInt8(error))
        default: nil
        }
    }
}

extension APIDeviceConnection {
    /// Why a connection was not made, or is over.
    var reason: String {
        let text: String =
            switch error {
            case 0: "The proxy did not connect it: all of its connections are in use, or it does not know how."
            case 0x05, 0x06, 0x3d:
                "The device and the proxy have different keys. Remove the pairing on the device, and pair it again."
            case 0x08: "The device went out of reach."
            case 0x13, 0x14, 0x15: "The device ended the connection."
            case 0x16: "The proxy ended the connection."
            case 0x22, 0x28: "The device did not answer in time."
            case 0x3e, 0x85, 0x100:
                "The device could not be connected: it is out of reach, asleep, or connected to a phone."
            default: "The connection ended with the error 0x\(String(UInt32(bitPattern: error), radix: 16))."
            }
        return text + " It is connected again when it advertises."
    }
}

extension APIPairing {
    /// Why a pairing failed.
    var reason: String {
        switch error {
        // Bluedroid's codes begin at 0x4d: passkey, out of band, authentication requirements, comparison.
        case 0x4e, 0x4f, 0x50, 0x59:
            "the device wants a passkey, which cannot be entered through a proxy. Connect it with type: bluez."
        case 0x52: "the device does not pair. Write pairing: none."
        case 0x56: "the device was asked too often. Try again in some minutes."
        default:
            "it failed with the error 0x\(String(UInt32(bitPattern: error), radix: 16)). Put the device in its pairing mode."
        }
    }
}
