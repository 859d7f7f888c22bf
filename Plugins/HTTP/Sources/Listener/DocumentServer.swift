import Concurrency
import GatewayKit
import HummingbirdCore
import HummingbirdTLS
import Listening
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Vitals

/// The server of a listener, made for one opening of it.
struct DocumentServer: Sendable {
    let options: ListenOptions
    /// How long the head of a request may take.
    let headTime: TimeAmount
    let requests: DocumentRequests
    let places: SenderPlaces
    let context: ServiceContext
    let connections = OpenConnections()

    /// One thread moves the bytes of all connections. Like SwiftNIO's own shared groups, it lives as long as the process, but only
    /// from the first listener on.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// How often the end checks whether all are closed.
    private static let step: Duration = .milliseconds(20)

    /// Ends a connection whose request was not read to its end.
    private struct ConnectionEnd: Error {}

    /// Reads the certificate. The returned closure serves until its task is cancelled.
    func prepared(
        onOpen: @escaping @Sendable (SocketAddress?) -> Void
    ) throws -> @Sendable () async throws -> Void {
        let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: HTTPListener.maximumHead, maxHeaderListSize: HTTPListener.maximumHead,
            maxHeaderFieldCount: HTTPListener.maximumHeaders)
        let handshakes = HandshakeLog(clock: context.clock, logger: context.logger)
        let plain = HTTP1Channel(
            responder: { try await respond($0, $1, $2) },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [handshakes.handler, RequestDeadline(headTime)],
                httpDecoderConfiguration: decoder))
        guard let tls = try options.tls?.serverConfiguration() else { return serving(plain, plain, onOpen) }
        return serving(try TLSChannel(plain, tlsConfiguration: tls), plain, onOpen)
    }

    private func serving<Base: ServerChildChannel>(
        _ base: Base, _ plain: HTTP1Channel, _ onOpen: @escaping @Sendable (SocketAddress?) -> Void
    ) -> @Sendable () async throws -> Void where Base.Value == HTTP1Channel.Value {
        // The library's own lines say less than ours.
        var logger = context.logger
        logger.logLevel = .critical
        let channel = CountedChannel(
            base: base, plain: plain, connections: connections, places: places, context: context)
        let server = channel.server(
            configuration: ServerConfiguration(
                address: .hostname(options.address.host, port: options.address.port),
                availableConnectionsDelegate: places),
            onServerRunning: { [places] server in
                await places.gate.open(server)
                onOpen(server.localAddress)
            }, eventLoopGroup: Self.eventLoops, logger: logger)
        return {
            try await server.run()
            // The library closes it as soon as the process stops, before its devices have ended. That is no failure.
            if Task.isShuttingDownGracefully { try await Promise<Void>().wait() }
        }
    }

    /// Closes all connections, after the last answers had a moment.
    func end() async {
        connections.refuse()
        let deadline = context.clock.uptime + HTTPListener.farewell
        while !connections.isEmpty, context.clock.uptime < deadline,
            (try? await context.clock.sleep(for: Self.step)) != nil
        {}
        connections.close()
    }

    // Concurrent, as the library's own functions are: the writer must not change its isolation.
    @concurrent private func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let reply: Reply
        switch places.sender(of: request.headers, channel, context) {
        case .failure(let refusal): reply = .crowded(refusal)
        case .success(let address):
            reply = try await requests.reply(to: request, from: address, context: context) {
                places.prove(channel, of: address, context)
            }
        }
        try await writer.write(response: reply.head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
        guard reply.endsConnection else { return }
        // A sender that is still sending needs a moment to read the answer.
        if reply.hasReadDocument {
            try? await context.clock.sleep(for: HTTPListener.drainTime)
        } else {
            let rest = request.body
            await context.clock.withTimeout(HTTPListener.drainTime) {
                do { for try await _ in rest {} } catch {}
            }
        }
        throw ConnectionEnd()
    }
}

/// A connection that is known to `OpenConnections`, and served if there is a place for it.
struct CountedChannel<Base: ServerChildChannel>: ServerChildChannel where Base.Value == HTTP1Channel.Value {
    let base: Base
    /// The same without TLS, for what is refused: it gets no time for a handshake.
    let plain: HTTP1Channel
    let connections: OpenConnections
    let places: SenderPlaces
    let context: ServiceContext

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard connections.add(channel) else {
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        guard let refused = places.admit(channel, context) else {
            return base.setup(channel: channel, logger: logger).map { [base, connections] value in
                connections.add(channel) { await base.handle(value: value, logger: logger) }
                return value
            }
        }
        return plain.setup(channel: channel, logger: logger).map { [connections, context] value in
            connections.add(channel) { await refused.end(value, clock: context.clock) }
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await connections.remove(value.channel)?() }
}
