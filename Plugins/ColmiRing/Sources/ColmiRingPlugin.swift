package import GatewayKit

/// Rings of Colmi and of other names with the same protocol: R02, R03, R06, R09, R10.
package enum ColmiRingPlugin: Plugin {
    package static let name = "ColmiRing"
    package static let summary =
        "Colmi rings (R02 to R10): heart rate, steps, blood oxygen, stress, sleep, temperature."
    package static let drivers: [any DeviceDriver.Type] = [ColmiDriver.self]
    package static let limits: [OperatorLimit] = [
        OperatorLimit("days of history", count: RingHistory.days, "older ones are not asked for", "rings keep no more")
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
