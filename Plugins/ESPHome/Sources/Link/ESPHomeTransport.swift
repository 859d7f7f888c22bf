package import GatewayKit
import Listening
import Vitals

/// Carries the services of a Bluetooth device that a proxy of ESPHome connects.
package struct ESPHomeTransport: Transport {
    /// `type: esphome`.
    package static let name = "esphome"
    /// Services, characteristics, notifications.
    package static let link = LinkKind.gatt
    /// All links share the connections to the proxies.
    package static let descriptors = 0
    /// A passkey cannot be entered through a proxy.
    package static let pairings = ["none", "just_works"]

    let target: ProxyTarget

    /// Reads `address` or `name`, and how the gateway deals with the device.
    package init(options: inout ConfigurationReader) { target = ProxyTarget(&options) }

    /// The proxies.
    package var service: (any PluginService.Type)? { ESPHomeService.self }

    /// `address`, in upper case.
    package var address: String? {
        if case .address(let address) = target.device.selector { address } else { nil }
    }

    /// The thread of the connections takes a turn.
    package static func answer() async { await ESPHomeService.eventLoops.answer() }

    /// Waits for the device's advertisement and for a connection of a proxy, connects, and disconnects when `body` ends.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        try await withoutActuallyEscaping(body) { body in
            try await context.services.with(ESPHomeService.self) { service in
                try await service.radio().withLink(context.device, target, presence: context.presence) { link in
                    try await body(.gatt(link))
                }
            }
        }
    }
}

/// The device of an entry of the configuration, and how the gateway deals with it.
struct ProxyTarget: Sendable {
    var device: BluetoothTarget
    /// Whether it is paired, without a passkey.
    var isPaired = false

    private enum PairingName: String, CaseIterable {
        case none
        case justWorks = "just_works"
        case passkey, ask
    }

    init(_ device: BluetoothTarget, isPaired: Bool = false) { (self.device, self.isPaired) = (device, isPaired) }

    /// Reads the keys of `transport:`.
    init(_ options: inout ConfigurationReader) {
        device = BluetoothTarget(&options)
        switch options.choice(
            "pairing", of: PairingName.self, default: .none, about: "How the device is paired; never with a passkey.")
        {
        case .none: isPaired = false
        case .justWorks: isPaired = true
        case .passkey, .ask:
            options.report(
                "A passkey cannot be entered through a proxy. Use type: bluez for a device that wants one.",
                at: "pairing")
        }
    }

    /// Whether an advertisement with this address is the device's, or with this name.
    func matches(_ address: UInt64, _ advertisement: Advertisement) -> Bool {
        switch device.selector {
        case .address(let own): own == BluetoothAddress.text(address)
        case .name(let own): own == advertisement.name
        }
    }
}
