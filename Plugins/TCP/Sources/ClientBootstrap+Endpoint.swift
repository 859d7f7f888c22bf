import NIOCore
import NIOPosix

extension ClientBootstrap {
    /// Connects to an endpoint. An IP address needs no look-up, which would take a separate thread and two queries.
    func connect(to endpoint: Endpoint) -> EventLoopFuture<any Channel> {
        if let address = try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port) {
            return connect(to: address)
        }
        return connect(host: endpoint.host, port: endpoint.port)
    }
}
