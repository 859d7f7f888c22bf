package import GatewayKit

/// Straps, cuffs, oximeters, thermometers, scales and meters with the health services of the Bluetooth SIG.
package enum GATTHealthPlugin: Plugin {
    package static let name = "GATTHealth"
    package static let summary =
        "Devices with the health services of the Bluetooth SIG: straps, cuffs, oximeters, meters."
    package static let drivers: [any DeviceDriver.Type] = [HealthDriver.self]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
