package import GatewayKit

/// Plays recorded devices again.
package enum ReplayPlugin: Plugin {
    /// The folder's name.
    package static let name = "Replay"
    package static let summary = "Plays a recorded device again, for bug reports and tests."
    /// The transport `replay`.
    package static let transports: [any Transport.Type] = [ReplayTransport.self]
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "a call that a strict replay waits for", time: Playback.timeout, "the link ends, and says what is missing",
            "the gateway's own limits are shorter")
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
