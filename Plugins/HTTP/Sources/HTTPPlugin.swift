package import GatewayKit

/// Takes documents that devices post.
package enum HTTPPlugin: Plugin {
    /// The folder's name.
    package static let name = "HTTP"
    package static let summary = "Takes the documents that phones post to the gateway."
    /// The transport `http`.
    package static let transports: [any Transport.Type] = [HTTPTransport.self]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
