import GatewayKit
import Vitals

/// Checks the addresses of devices: no two devices of a transport may have the same.
struct TakenAddresses {
    private struct Address: Hashable {
        let transport: String
        let text: String
    }

    private var devices: [Address: DeviceID] = [:]

    /// Takes the transport's address for a device. Returns what is wrong with it, with the remedy.
    mutating func add(_ transport: any Transport, of device: DeviceID?) -> String? {
        guard let text = transport.address else { return nil }
        let address = Address(transport: type(of: transport).name, text: text)
        if let other = devices[address] {
            return "The address \(text) is that of \(other) already. Give each device its own."
        }
        devices[address] = device
        return nil
    }
}
