import Concurrency
package import GatewayKit
import Listening
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Vitals

/// Takes the calls of devices that cannot be connected to, such as phones and microcontrollers.
///
/// A device connects, sends a line with its name and its secret (`Introduction`), and then speaks its protocol as over any link.
package final class TCPListener: PluginService {
    /// An entry of `plugins:`.
    package static let sample = """
          # Where devices call that cannot be connected to: {type: tcp, listen: true}.
          tcp:
            listen: 127.0.0.1:7879      # 0.0.0.0:7879 for all addresses of this machine, with tls
            #tls: {certificate: tcp.pem, key: tcp-key.pem}

        """
    package static let shared = "the listener for calls"
    /// The listener, and callers that have not introduced themselves.
    package static let descriptors = 2 + maximumStrangers

    /// Where it listens if `listen` is missing.
    static let defaultAddress = "127.0.0.1:7879"
    /// How long a caller may take for its first line, with the handshake of TLS.
    static let introductionTime: Duration = .seconds(10)
    /// The most callers at a time that have not introduced themselves. Those that have are bounded by the devices.
    static let maximumStrangers = 32
    /// The most of these of one address: it can keep out nobody else.
    static let strangersPerAddress = maximumStrangers / 4
    /// How long a call waits to be taken: the gateway takes it within a second or two.
    static let waitingTime: Duration = .seconds(30)

    /// How long the line of a refusal may take.
    static let farewell: Duration = .seconds(1)

    let options: ListenOptions
    let callers: ExpectedCallers
    private let logins = LoginRateLimiter()
    let shares = ConnectionShares(
        ConnectionShares.Limits(
            strangers: TCPListener.maximumStrangers, strangersPerAddress: TCPListener.strangersPerAddress))
    private let log = RefusalLog()
    /// The address at which it listens now.
    private let bound = Mutex<SocketAddress?>(nil)
    /// The gateway's clock, once it has begun.
    private let clock = Mutex<GatewayClock?>(nil)

    /// Reads `listen`, `tls` and `insecure`.
    package init(options: inout ConfigurationReader) {
        callers = ExpectedCallers(logins)
        self.options = options.listenOptions(default: Self.defaultAddress)
    }

    /// Waits for a device's call, and runs `body` with its link.
    func withCall(
        of device: DeviceID, token: Secret, presence: DevicePresence, _ body: (TCPLink) async throws -> Void
    ) async throws {
        let clock = clock.withLock { $0 }
        try await callers.withCall(
            of: device, token: token, presence: presence, uptime: { clock?.uptime ?? .zero }, body)
    }

    /// `listen`.
    package var listens: String? { options.address.description }

    /// The port at which it listens now.
    package var port: Int? { bound.withLock { $0?.port } }

    /// Listens until `body` returns.
    package func withService(
        context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let server = try await listen(HandshakeLog(clock: context.clock, logger: context.logger))
        clock.withLock { $0 = context.clock }
        bound.withLock { $0 = server.channel.localAddress }
        defer { bound.withLock { $0 = nil } }
        context.logger.info("Devices can call.", metadata: ["address": "\(options.address)"])
        try await server.executeThenClose { links in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await self.serve(links, context)
                    throw ListenError("The listener at \(self.options.address) was closed.")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// The thread that serves all connections takes a turn.
    package func answer() async { await TCPChannel.eventLoops.answer() }

    private func listen(_ handshakes: HandshakeLog) async throws(ListenError) -> NIOAsyncChannel<TCPLink, Never> {
        let security = try options.tls?.serverContext()
        do {
            return try await ServerBootstrap(group: TCPChannel.eventLoops)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.recvAllocator, value: ReceiveAllocator())
                .childChannelOption(.maxMessagesPerRead, value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.socketOption(.so_keepalive), value: 1)
                .childChannelOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(ReceiveBuffer.systemBuffer))
                .bind(host: options.address.host, port: options.address.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let address = channel.remoteAddress
                        let endpoint = Endpoint(host: address?.ipAddress ?? "unknown", port: address?.port ?? 0)
                        let inbox = ReceiveBuffer(endpoint: endpoint)
                        if let security {
                            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: security))
                            try channel.pipeline.syncOperations.addHandler(handshakes.handler)
                        }
                        try channel.pipeline.syncOperations.addHandler(inbox)
                        return TCPLink(
                            channel: channel, inbox: inbox, endpoint: endpoint, isEncrypted: security != nil)
                    }
                }
        } catch {
            throw ListenError(error, at: options.address)
        }
    }

    private func serve(_ links: NIOAsyncChannelInboundStream<TCPLink>, _ context: ServiceContext) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for try await link in links {
                group.addTask { await self.serve(link, context) }
            }
        }
    }

    /// Serves a caller until the gateway has taken its call, or it is refused.
    private func serve(_ link: TCPLink, _ context: ServiceContext) async {
        let ticket: ConnectionShares.Ticket
        do throws(ConnectionShares.Refusal) { ticket = try shares.admit(link.endpoint.host) } catch {
            // A caller with this many connections gets neither time nor a line of the log for each.
            report(error, of: link, context)
            if !link.isEncrypted { await refuse(link, .busy(error), context) }
            return await link.close()
        }
        defer { shares.release(ticket) }
        let introduced: (ExpectedCallers.Call, DeviceID)?
        do throws(CallRefusal) {
            introduced = try await introduction(of: link, context)
        } catch {
            report(error, of: link, context)
            await refuse(link, error, context)
            await link.close()
            introduced = nil
        }
        guard let (call, device) = introduced else { return }
        // Without a limit of such connections it has a place.
        try? shares.prove(ticket)
        await callers.add(call, of: device)
        let isTaken = await context.clock.withTimeout(Self.waitingTime) {
            (try? await call.settled.wait()) ?? false
        }
        if isTaken != true, callers.remove(call, of: device) { await link.close() }
    }

    private func refuse(_ link: TCPLink, _ refusal: CallRefusal, _ context: ServiceContext) async {
        await context.clock.withTimeout(Self.farewell) { try? await link.write(refusal.line) }
    }

    /// Logs that there was no place for callers of an address.
    private func report(_ refusal: ConnectionShares.Refusal, of link: TCPLink, _ context: ServiceContext) {
        let address = link.endpoint.host
        guard let count = log.countRefusal(of: address, at: context.clock.uptime) else { return }
        context.logger.notice(
            "Calls were refused.", metadata: ["caller": "\(address)", "count": "\(count)", "reason": "\(refusal)"])
    }

    /// Logs a refusal, up to a number in a second.
    private func report(_ refusal: CallRefusal, of link: TCPLink, _ context: ServiceContext) {
        guard log.mayLog(at: context.clock.uptime) else { return }
        context.logger.notice(
            "A call was refused.",
            metadata: [
                "caller": "\(link.endpoint)", "code": "\(refusal.code.rawValue)", "reason": "\(refusal.message)",
            ])
    }

    private func introduction(
        of link: TCPLink, _ context: ServiceContext
    ) async throws(CallRefusal) -> (ExpectedCallers.Call, DeviceID) {
        let line = await context.clock.withTimeout(Self.introductionTime) { await Self.firstLine(of: link) }
        guard let line else { throw .tooLate }
        guard let introduction = line.flatMap(Introduction.init) else { throw .notIntroduced }
        let (address, uptime) = (link.endpoint.host, context.clock.uptime)
        // Unknown names count like those of devices: a difference would show which is which. Made-up ones cannot push out what is
        // remembered of a device, since a network that guesses has to wait as a whole after a few.
        let claimed = introduction.device
        if let wait = logins.wait(of: address, for: claimed, at: uptime) { throw .tooSoon(wait) }
        guard let device = callers.device(of: introduction, uptime: uptime) else {
            logins.failed(address, for: claimed, at: uptime)
            throw .unauthorized
        }
        logins.succeeded(address, for: claimed, at: uptime)
        return (ExpectedCallers.Call(link, token: introduction.token), device)
    }

    /// The first line, without its end; `nil` if it is too long or the connection ends first. What follows it stays in the link.
    private static func firstLine(of link: TCPLink) async -> [UInt8]? {
        var line: [UInt8] = []
        while line.count < Introduction.maximumLength {
            guard let byte = try? await link.read(atMost: 1).first else { return nil }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
        return nil
    }
}
