package import GatewayKit

/// Connects the gateway with programs that act for a device.
package enum ExecPlugin: Plugin {
    /// The folder's name.
    package static let name = "Exec"
    package static let summary = "Starts a program and speaks with it over its standard input and output."
    /// The transport `exec`.
    package static let transports: [any Transport.Type] = [ExecTransport.self]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
