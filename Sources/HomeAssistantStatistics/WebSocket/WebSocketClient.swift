import Concurrency
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// Opens Home Assistant's WebSocket (RFC 6455).
package struct WebSocketClient: Sendable {
    /// The time for the connection, with the handshakes of TLS and HTTP.
    static let connectTime: TimeAmount = .seconds(15)

    private let address: HomeAssistantAddress
    private let authorityFile: String?

    /// One thread serves the connection; like SwiftNIO's own shared groups, it lives as long as the process.
    private static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// - Parameter authorityFile: a PEM file with the authorities that may sign its certificate; `nil` for the system's. It is
    ///   read for each connection.
    package init(_ address: HomeAssistantAddress, authorityFile: String?) {
        (self.address, self.authorityFile) = (address, authorityFile)
    }

    /// Runs `body` with an open connection, and closes it.
    /// - Throws: `HomeAssistantError.offline` if there is none, also if the file of authorities cannot be used.
    @discardableResult
    package func withConnection<Value>(_ body: (any MessageStream) async throws -> Value) async throws -> Value {
        let socket = try await open()
        defer { socket.channel.close(promise: nil) }
        return try await body(socket)
    }

    private func tls() throws -> NIOSSLContext? {
        guard address.isTLS else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authorityFile { configuration.trustRoots = .file(authorityFile) }
        do { return try NIOSSLContext(configuration: configuration) } catch {
            guard let authorityFile else { throw error }
            throw HomeAssistantError.offline("\(authorityFile) has no certificate that can be read")
        }
    }

    /// Returns when the thread of the connections has taken a turn, or the task is cancelled.
    package static func answer() async {
        let turn = Promise<Void>()
        eventLoops.next().execute { turn.fulfil(()) }
        try? await turn.wait()
    }

    private func open() async throws -> WebSocket {
        let tls = try tls()
        let loop = Self.eventLoops.next()
        let opened = loop.makePromise(of: WebSocket.self)
        let timeout = loop.scheduleTask(in: Self.connectTime) {
            opened.fail(HomeAssistantError.offline("it does not answer"))
        }
        ClientBootstrap(group: loop)
            .connectTimeout(Self.connectTime)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { [address] channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let tls else { return }
                    // A certificate for an address of IP is checked against the peer's.
                    let name = (try? SocketAddress(ipAddress: address.host, port: 0)) == nil ? address.host : nil
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: name))
                }.flatMap { Self.upgrade(channel, address, opened) }
            }
            .connect(host: address.host, port: address.port)
            .whenComplete { result in
                switch result {
                case .failure(let error): opened.fail(HomeAssistantError.offline("\(error)"))
                case .success(let channel):
                    channel.closeFuture.whenComplete { _ in
                        opened.fail(HomeAssistantError.offline("it closed the connection"))
                    }
                    // A caller that gave up never uses the connection.
                    opened.futureResult.whenFailure { _ in channel.close(promise: nil) }
                }
            }
        opened.futureResult.whenComplete { _ in timeout.cancel() }
        return try await withTaskCancellationHandler {
            try await opened.futureResult.get()
        } onCancel: {
            opened.fail(CancellationError())
        }
    }

    /// Asks for the WebSocket, and adds what serves it once the server agrees.
    private static func upgrade(
        _ channel: any Channel, _ address: HomeAssistantAddress, _ opened: EventLoopPromise<WebSocket>
    ) -> EventLoopFuture<Void> {
        let limit = MessageBuffer.messageLimit
        let upgrader = NIOTypedWebSocketClientUpgrader<WebSocket>(maxFrameSize: limit) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let buffer = MessageBuffer()
                try channel.pipeline.syncOperations.addHandlers(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: MessageBuffer.frameLimit,
                        maxAccumulatedFrameSize: limit), buffer)
                return WebSocket(channel: channel, buffer: buffer)
            }
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: address.path,
            headers: ["Host": address.authority, "Content-Length": "0"])
        var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
            upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                upgradeRequestHead: head, upgraders: [upgrader]
            ) { channel in
                channel.eventLoop.makeFailedFuture(
                    HomeAssistantError.offline("there is no Home Assistant at \(address)"))
            })
        // Its first message may come in one packet with the handshake.
        configuration.leftOverBytesStrategy = .forwardBytes
        let complete = configuration
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: complete)
        }.flatMap { (upgraded: EventLoopFuture<WebSocket>) in
            upgraded.whenComplete { result in
                switch result {
                case .success(let socket): opened.succeed(socket)
                case .failure(let error as HomeAssistantError): opened.fail(error)
                case .failure(let error): opened.fail(HomeAssistantError.offline("\(error)"))
                }
            }
            return channel.eventLoop.makeSucceededVoidFuture()
        }
    }
}

/// An open WebSocket.
private struct WebSocket: MessageStream {
    let channel: any Channel
    let buffer: MessageBuffer

    func send(_ message: [UInt8]) async throws {
        let frame = WebSocketFrame(
            fin: true, opcode: .text, maskKey: .random(), data: channel.allocator.buffer(bytes: message))
        // A peer that does not read would keep it waiting without end. Half a message cannot be taken back, so the connection ends.
        try await withTaskCancellationHandler {
            do { try await channel.writeAndFlush(frame) } catch { throw HomeAssistantError.offline("\(error)") }
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    func receive() async throws -> [UInt8] { try await buffer.next() }
}
