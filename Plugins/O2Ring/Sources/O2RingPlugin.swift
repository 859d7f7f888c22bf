package import GatewayKit

/// Pulse oximeters of Viatom and Wellue that are worn at night: O2Ring, SleepU, Checkme O2 and others with their first protocol.
package enum O2RingPlugin: Plugin {
    package static let name = "O2Ring"
    package static let summary = "Oximeter rings of Viatom and Wellue: recordings, live values, alarm limits, clock."
    package static let drivers: [any DeviceDriver.Type] = [O2Driver.self]
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "a file that the ring refuses", time: RefusedFiles.timeout, "it is counted and passed over",
            "later files must not wait for ever")
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
