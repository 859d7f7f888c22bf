import GatewayKit
import NIOCore
import NIOPosix
import Vitals

/// Opens TCP connections to a device that listens.
struct TCPConnector: Sendable {
    /// The default time limit of connecting: a device in reach answers in milliseconds, one that has to wake up in a
    /// few seconds.
    static let defaultTimeout: Duration = .seconds(10)
    /// A shorter limit would fail on a slow wireless network; instead of a longer one the gateway retries.
    static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .minutes(5)

    let endpoint: Endpoint
    let timeout: Duration

    /// Reads `host`, `port` and `connect_timeout`.
    init(options: inout ConfigurationReader) {
        endpoint = Endpoint(
            host: options.string("host", about: "The name or address of a device that listens."),
            port: options.integer("port", in: 1...65_535, about: "Its port."))
        timeout = options.duration(
            "connect_timeout", in: Self.timeouts, default: Self.defaultTimeout, about: "The limit of connecting.")
    }

    /// Connects to the first of the host's addresses that answers (RFC 8305, as implemented by SwiftNIO).
    func connect() async throws(LinkError) -> TCPLink {
        let connection = ClientBootstrap(group: TCPChannel.eventLoops)
            .connectTimeout(.nanoseconds(timeout.inMilliseconds * 1_000_000))
            .channelOption(.autoRead, value: false)
            .channelOption(.recvAllocator, value: ReceiveAllocator())
            .channelOption(.maxMessagesPerRead, value: 1)
            // Sends at once: a request must not wait for more bytes to fill a packet.
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(ReceiveBuffer.systemBuffer))
            .channelInitializer { [endpoint] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ReceiveBuffer(endpoint: endpoint))
                }
            }
            .connect(to: endpoint)
            .flatMap { [endpoint] channel in
                channel.pipeline.handler(type: ReceiveBuffer.self).map { inbox in
                    TCPLink(channel: channel, inbox: inbox, endpoint: endpoint)
                }
            }
        // A cancelled task must not wait for the connection. The connection or the cancellation settles the promise,
        // whichever comes first; a connection that comes second is closed.
        let outcome = TCPChannel.eventLoops.next().makePromise(of: TCPLink.self)
        connection.whenComplete { result in
            outcome.completeWith(result)
            if case .success(let link) = result {
                outcome.futureResult.whenFailure { _ in link.channel.close(promise: nil) }
            }
        }
        do {
            return try await withTaskCancellationHandler {
                try await outcome.futureResult.get()
            } onCancel: {
                outcome.fail(LinkError.closed(endpoint))
            }
        } catch {
            throw .cannotConnect(error, to: endpoint, within: timeout)
        }
    }
}

/// The address on which a device listens.
struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// A name or an IP address.
    var host: String
    /// The TCP port, 1–65535.
    var port: Int

    /// `host:port`, with brackets around an IPv6 address as in URLs (RFC 3986).
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension ClientBootstrap {
    /// Connects to an endpoint. An IP address needs no look-up, which would take a separate thread and two queries.
    func connect(to endpoint: Endpoint) -> EventLoopFuture<any Channel> {
        if let address = try? SocketAddress(ipAddress: endpoint.host, port: endpoint.port) {
            return connect(to: address)
        }
        return connect(host: endpoint.host, port: endpoint.port)
    }
}

/// The thread that serves all connections, those that are opened and those that are accepted.
enum TCPChannel {
    /// One thread serves all connections: it only copies bytes, drivers decode on the shared pool. Like SwiftNIO's own
    /// shared groups, it lives as long as the process.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}
