package import GatewayKit

/// Connects the gateway with devices that have Bluetooth Low Energy, by BlueZ.
package enum BlueZPlugin: Plugin {
    /// The folder's name.
    package static let name = "BlueZ"
    package static let summary = "Connects to devices with Bluetooth Low Energy, by the system's BlueZ."
    /// The transport `bluez`.
    package static let transports: [any Transport.Type] = [BlueZTransport.self]
    /// `plugins: {bluez: …}`: the adapters.
    package static let service: (any PluginService.Type)? = BlueZService.self
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
