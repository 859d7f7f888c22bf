package import GatewayKit
import Vitals

/// Carries the services of a Bluetooth device.
package struct BlueZTransport: Transport {
    /// `type: bluez`.
    package static let name = "bluez"
    /// Services, characteristics, notifications.
    package static let link = LinkKind.gatt
    /// All links share the connection to the bus.
    package static let descriptors = 0
    /// All but `passkey`, which needs the passkey.
    package static let pairings = ["none", "just_works", "ask"]

    let target: DeviceTarget

    /// Reads `address` or `name`, and how the gateway deals with the device.
    package init(options: inout ConfigurationReader) { target = DeviceTarget(&options) }

    /// The adapters.
    package var service: (any PluginService.Type)? { BlueZService.self }

    /// `address`, in upper case.
    package var address: String? { if case .address(let address) = target.selector { address } else { nil } }

    /// With `pairing: ask`.
    package var asksForPasskey: Bool { target.pairing == .ask }

    /// The thread of the connection to the bus takes a turn.
    package static func answer() async { await BlueZService.loop.answer() }

    /// Waits for the device's advertisement and for a link, connects, and disconnects when `body` ends.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        try await withoutActuallyEscaping(body) { body in
            try await context.services.with(BlueZService.self) { service in
                let radio = try service.radio()
                try await radio.withLink(
                    context.device, target, presence: context.presence, passkeys: context.passkeys
                ) { link in
                    try await body(.gatt(link))
                }
            }
        }
    }
}
