package import GatewayKit

/// Connects the gateway with devices in other rooms, by ESPHome's Bluetooth proxies.
package enum ESPHomePlugin: Plugin {
    /// The folder's name.
    package static let name = "ESPHome"
    package static let summary =
        "Connects to devices with Bluetooth Low Energy in every room, by ESPHome's Bluetooth proxies."
    /// The transport `esphome`.
    package static let transports: [any Transport.Type] = [ESPHomeTransport.self]
    /// `plugins: {esphome: …}`: the proxies.
    package static let service: (any PluginService.Type)? = ESPHomeService.self
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "ESPHome's proxies", count: ESPHomeOptions.mostProxies, "an error of the configuration",
            "a large house has ten"),
        OperatorLimit(
            "silence of a proxy", time: ProxyRadio.longestSilence, "it is connected again",
            "Wi-Fi may be away for a minute"),
        OperatorLimit(
            "devices of a scan by proxies", count: ProxyScan.capacity, "further ones are not listed",
            "in a crowd telephones change their addresses"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
