package import GatewayKit

/// Connects the gateway with programs that act for a device.
package enum ExecPlugin: Plugin {
    /// The folder's name.
    package static let name = "Exec"
    package static let summary = "Starts a program and speaks with it over its standard input and output."
    /// The transport `exec`.
    package static let transports: [any Transport.Type] = [ExecTransport.self]
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "lines that a program logs in a second", count: LogLines.linesPerSecond, "skipped and counted",
            "a stack trace fits"),
        OperatorLimit("end of a program", time: ExecTransport.defaultGrace, "it is killed", "it may end by itself"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
