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
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "button of a device that pairs", time: Radio.pairingTime,
            "the pairing fails, and the next attempt begins it again", "a person has to press it"),
        OperatorLimit(
            "typing a passkey", time: Radio.passkeyTime, "the next attempt asks again",
            "devices give a pairing up then"),
        OperatorLimit(
            "devices of a scan", count: NearbyScan.capacity, "further ones are not listed",
            "in a crowd telephones change their addresses"),
        OperatorLimit(
            "start of a scan", time: NearbyScan.longestStart, "`timeout`",
            "an adapter that connects a device cannot scan"),
        OperatorLimit(
            "broken periodic connections in a row", count: BluetoothTarget.mostBrokenConnections,
            "the next one waits for its time", "some devices end each connection by themselves"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
