package import GatewayKit

/// Connects the gateway with devices and bridges that listen on a TCP port.
package enum TCPPlugin: Plugin {
    /// The folder's name.
    package static let name = "TCP"
    package static let summary = "Connects to a device, a phone or a bridge that listens on a TCP port."
    /// The transport `tcp`.
    package static let transports: [any Transport.Type] = [TCPTransport.self]
    /// `plugins: {tcp: …}`: the listener that devices call.
    package static let service: (any PluginService.Type)? = TCPListener.self
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "introduction of a caller", time: TCPListener.introductionTime, "`bad_request`",
            "a device in reach needs milliseconds"),
        OperatorLimit(
            "callers without a name", count: TCPListener.maximumStrangers, "`too_many_requests`",
            "each has a connection"),
        OperatorLimit(
            "callers without a name of one address", count: TCPListener.strangersPerAddress, "`too_many_requests`",
            "others come in"),
        OperatorLimit(
            "a call that waits", time: TCPListener.waitingTime, "the connection ends",
            "the gateway takes a call within two seconds"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
