package import GatewayKit

/// Simulated wearables.
package enum SimulatorPlugin: Plugin {
    package static let name = "Simulator"
    package static let summary = "Simulated wearables: bands, rings, cuffs, oximeters, scales and glucose sensors."
    package static let drivers: [any DeviceDriver.Type] = [SimulatorDriver.self]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
