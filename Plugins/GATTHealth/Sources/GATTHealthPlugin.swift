package import GatewayKit

/// Straps, cuffs, oximeters, thermometers, scales and meters with the health services of the Bluetooth SIG.
package enum GATTHealthPlugin: Plugin {
    package static let name = "GATTHealth"
    package static let summary =
        "Devices with the health services of the Bluetooth SIG: straps, cuffs, oximeters, meters."
    package static let drivers: [any DeviceDriver.Type] = [HealthDriver.self]
    package static let limits: [OperatorLimit] = [
        OperatorLimit("window of a variability", time: BeatWindow.length, "a value", "the short-term measure"),
        OperatorLimit(
            "records of a meter", count: RecordHistory.capacity, "an oximeter's further ones are not read",
            "the sequence numbers of a meter"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
