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
    /// The text of `sample.yaml`; a test compares the two.
    package static let sample = """
        # A device, a phone or a bridge that listens on a TCP port.
        devices:
          - id: band-1
            name: Anna's band
            driver: link
            transport:
              type: tcp
              host: 127.0.0.1         # a name or an IP address
              port: 7878              # 1 to 65535
              connect_timeout: 10s    # 100ms to 5m; 10s when left out

        """
}
