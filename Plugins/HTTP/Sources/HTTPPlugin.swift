package import GatewayKit
import Listening

/// Takes documents that devices post.
package enum HTTPPlugin: Plugin {
    /// The folder's name.
    package static let name = "HTTP"
    package static let summary = "Takes the documents that phones post to the gateway."
    /// The transport `http`.
    package static let transports: [any Transport.Type] = [HTTPTransport.self]
    /// `plugins: {http: …}`: the listener that devices post to.
    package static let service: (any PluginService.Type)? = HTTPListener.self
    package static let limits: [OperatorLimit] = [
        OperatorLimit("a document", bytes: BodyBudget.maximumBody, "413", "a month of minutes of a phone has 5 MiB"),
        OperatorLimit(
            "documents at a time", bytes: BodyBudget.maximumBytes, "503", "three of the longest, and small ones"),
        OperatorLimit(
            "arrival of a document", time: DocumentRequests.bodyTime, "408", "20 MiB over a slow wireless network"),
        OperatorLimit("storing of a document", time: DocumentRequests.answerTime, "503", "apps give up after 60 s"),
        OperatorLimit("connections", count: HTTPListener.maximumConnections, "others wait", "each has a descriptor"),
        OperatorLimit(
            "connections without a right token", count: HTTPListener.maximumStrangers, "others wait",
            "the rest is for devices"),
        OperatorLimit(
            "connections of one address without a right token", count: HTTPListener.strangersPerAddress, "503",
            "no address keeps out another one"),
        OperatorLimit(
            "connections of one address with a right token", count: HTTPListener.provenPerAddress, "503",
            "others find a place"),
        OperatorLimit("trusted proxies", count: TrustedProxies.maximumEntries, "an error", "a person lists a few"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
