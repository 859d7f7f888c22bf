package import GatewayKit

/// Takes documents that devices post.
package enum HTTPPlugin: Plugin {
    /// The folder's name.
    package static let name = "HTTP"
    package static let summary = "Takes the documents that phones post to the gateway."
    /// The transport `http`.
    package static let transports: [any Transport.Type] = [HTTPTransport.self]
    /// `plugins: {http: …}`: the listener that devices post to.
    package static let service: (any PluginService.Type)? = HTTPListener.self
    /// The text of `sample.yaml`; a test compares the two.
    package static let sample = """
        # A phone whose app posts its values: POST /v1/devices/phone-1 with Authorization: Bearer <token>.
        devices:
          - id: phone-1
            name: Anna's phone
            driver: health-auto-export
            offline_after: 26h        # it posts when it likes
            transport:
              type: http
              token: {env: PHONE_TOKEN}

        """
}
