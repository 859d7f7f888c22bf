import GatewayKit
import Vitals

/// The device of an entry of the configuration, and how the gateway deals with it.
struct DeviceTarget: Sendable, Hashable {
    typealias Selector = BluetoothTarget.Selector
    typealias Mode = BluetoothTarget.Mode

    /// How the device is paired.
    enum Pairing: Sendable, Hashable {
        case none
        case justWorks
        case passkey(Passkey)
        /// With a passkey that the device makes for each pairing, and a person types.
        case ask
    }

    var selector: Selector
    /// The adapter by name or address; `nil` for the plugin's.
    var adapter: String?
    var mode: Mode
    var pairing: Pairing
    var connectTimeout: Duration
}
