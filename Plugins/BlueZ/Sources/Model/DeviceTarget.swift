import GatewayKit
import Vitals

/// The device of an entry of the configuration, and how the gateway deals with it.
struct DeviceTarget: Sendable, Hashable {
    /// How the device is recognised.
    enum Selector: Sendable, Hashable {
        /// Its address, in upper case.
        case address(String)
        /// The name that it advertises.
        case name(String)
    }

    /// When the gateway connects the device.
    enum Mode: Sendable, Hashable {
        /// Whenever it is in reach; the link stays open.
        case persistent
        /// No sooner than `every` after the last link, and until nothing was read or received for `idle`, at most `longest`.
        case periodic(every: Duration, idle: Duration, longest: Duration)
    }

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

extension DeviceTarget.Selector: CustomStringConvertible {
    var description: String {
        switch self {
        case .address(let address): address
        case .name(let name): "\"\(name)\""
        }
    }
}
