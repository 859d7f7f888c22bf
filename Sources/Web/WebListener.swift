import Concurrency
import GatewayKit
import HTTPTypes
import HummingbirdCore
import HummingbirdTLS
import Listening
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Vitals

/// One place at which the gateway listens: it is opened again whenever it breaks, until it is stopped.
final class WebListener: Sendable {
    /// The wait after the first failure.
    static let firstWait: Duration = .seconds(1)
    /// The longest wait. A try is local, and costs little.
    static let longestWait: Duration = .seconds(60)

    /// One thread moves the bytes of all connections. Like SwiftNIO's own shared groups, it lives as long as the process, but only
    /// from the first listener on.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let configuration: WebConfiguration
    /// The result of the first try.
    let tried = Promise<Result<Void, ListenError>>()
    let ended = Promise<Void>()
    private let stopping = Promise<Void>()
    private let pages: @Sendable () -> Router
    private let settings: WebServer.Settings
    /// Whether it ends if its first try fails: whoever waits for that try says why.
    private let isTrial: Bool
    /// The address at which it listens now.
    private let bound = Mutex<SocketAddress?>(nil)

    /// - Parameter pages: the pages at the time of a request.
    init(
        _ configuration: WebConfiguration, settings: WebServer.Settings, isTrial: Bool,
        pages: @escaping @Sendable () -> Router
    ) {
        self.configuration = configuration
        self.isTrial = isTrial
        self.settings = settings
        self.pages = pages
    }

    /// The port at which it listens now.
    var port: Int? { bound.withLock { $0?.port } }

    /// Makes `run` end. Returns at once.
    func stop() { stopping.fulfil(()) }

    /// Listens until `stop` is called or the task is cancelled.
    func run() async {
        var backOff = BackOff(first: Self.firstWait, longest: Self.longestWait)
        var generator = SystemRandomNumberGenerator()
        var failures = RepeatedNotice()
        while stopping.value == nil, !Task.isCancelled {
            let failure = await open()
            guard let failure, stopping.value == nil, !Task.isCancelled else { break }
            tried.fulfil(.failure(failure))
            if isTrial, case .failure? = tried.value {
                _ = try? await stopping.wait()
                break
            }
            if failures.isDue(failure.description, at: settings.clock.uptime) {
                settings.logger.error(
                    "The gateway's own listener (web) cannot be opened; trying again.",
                    metadata: ["error": "\(failure)", "failures": "\(failures.count)"])
            }
            await settings.clock.withTimeout(backOff.next(using: &generator)) { [stopping] in
                _ = try? await stopping.wait()
            }
        }
        tried.fulfil(.failure(ListenError("The gateway stops.")))
        ended.fulfil(())
    }

    /// Listens once. Returns why it could not, or no longer; `nil` at a stop.
    private func open() async -> ListenError? {
        do {
            let failure = Mutex<ListenError?>(nil)
            try await settings.opener {
                let reason = await self.serve()
                failure.withLock { $0 = reason }
            }
            return failure.withLock { $0 }
        } catch { return ListenError("\(error)") }
    }

    private func serve() async -> ListenError? {
        let connections = WebConnections(clock: settings.clock, logger: settings.logger)
        let address = configuration.listen.address
        let server: @Sendable () async throws -> Void
        do { server = try prepared(connections) } catch {
            return error as? ListenError ?? ListenError(error, at: address)
        }
        let failure = await withTaskGroup(of: ListenError?.self) { group in
            group.addTask {
                do { try await server() } catch {
                    return error as? ListenError ?? ListenError(error, at: address)
                }
                return ListenError("The listener at \(address) was closed.")
            }
            group.addTask { [stopping] in
                _ = try? await stopping.wait()
                return nil
            }
            let failure = await group.next() ?? nil
            group.cancelAll()
            await connections.end()
            return failure
        }
        bound.withLock { $0 = nil }
        await connections.channels.serveForgotten()
        return failure
    }

    /// Reads the certificate. The returned closure serves until its task is cancelled.
    private func prepared(_ connections: WebConnections) throws -> @Sendable () async throws -> Void {
        let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: WebConnections.maximumHead, maxHeaderListSize: WebConnections.maximumHead,
            maxHeaderFieldCount: WebConnections.maximumHeaders)
        let headTime = TimeAmount(settings.headTime)
        let handshakes = HandshakeLog(clock: settings.clock, logger: settings.logger)
        let plain = HTTP1Channel(
            responder: { try await self.respond($0, $1, $2) },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [handshakes.handler, RequestDeadline(headTime)],
                httpDecoderConfiguration: decoder))
        guard let tls = try configuration.listen.tls?.serverConfiguration() else {
            return serving(plain, plain, isEncrypted: false, connections)
        }
        return serving(try TLSChannel(plain, tlsConfiguration: tls), plain, isEncrypted: true, connections)
    }

    private func serving<Base: ServerChildChannel>(
        _ base: Base, _ plain: HTTP1Channel, isEncrypted: Bool, _ connections: WebConnections
    ) -> @Sendable () async throws -> Void where Base.Value == HTTP1Channel.Value {
        // The library's own lines say less than ours.
        var logger = settings.logger
        logger.logLevel = .critical
        let channel = CountedChannel(base: base, plain: plain, isEncrypted: isEncrypted, connections: connections)
        let address = configuration.listen.address
        let server = channel.server(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port), availableConnectionsDelegate: connections),
            onServerRunning: { server in
                await connections.gate.open(server)
                self.bound.withLock { $0 = server.localAddress }
                self.settings.logger.info("The gateway listens.", metadata: ["address": "\(address)"])
                self.tried.fulfil(.success(()))
            }, eventLoopGroup: Self.eventLoops, logger: logger)
        return { try await server.run() }
    }

    /// The bytes of an answer that are sent at once, before the client has to have read the most of them.
    private static let part = 64 << 10

    // Concurrent, as the library's own functions are: the writer must not change its isolation.
    @concurrent private func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        // A client that does not read must neither keep its place nor the memory of an answer.
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(settings.answerTime)) {
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        let answer = await answer(to: request.head, channel)
        defer { answer.onEnd() }
        let bytes = request.method == .head ? [] : answer.body
        let body = ResponseBody(contentLength: bytes.count) { output in
            for start in stride(from: 0, to: bytes.count, by: Self.part) {
                try await output.write(ByteBuffer(bytes: bytes[start..<min(start + Self.part, bytes.count)]))
            }
            try await output.finish(nil)
        }
        // What is posted is not read, so nothing can follow it.
        let hasBody = request.headers[.contentLength] != nil || request.headers[.transferEncoding] != nil
        try await writer.write(response: answer.head(endsConnection: hasBody), body: body)
        if hasBody { throw ConnectionEnd() }
    }

    /// Ends a connection whose request was not read to its end.
    private struct ConnectionEnd: Error {}

    private func answer(to head: HTTPRequest, _ channel: any Channel) async -> WebAnswer {
        let isOpen = !configuration.listen.address.isLoopback || Self.isLocal(head.authority)
        guard isOpen else { return WebAnswer(421, text: "Use an address such as 127.0.0.1, or localhost.") }
        let path = String((head.path ?? "").prefix { $0 != "?" })
        return await pages().answer(
            to: WebRequest(method: head.method.rawValue, path: path, address: WebConnections.peer(of: channel)))
    }

    /// Whether a request names this machine. A page of a stranger, whose name leads here in the owner's browser, does not.
    static func isLocal(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return true }
        if ListenAddress(authority) != nil || ListenAddress("\(authority):80") != nil { return true }
        return authority.prefix { $0 != ":" }.lowercased() == "localhost"
    }
}

extension WebAnswer {
    /// The answer without its body.
    func head(endsConnection: Bool) -> HTTPResponse {
        var head = HTTPResponse(status: HTTPResponse.Status(integerLiteral: status))
        head.headerFields[.contentType] = contentType
        head.headerFields[.contentLength] = "\(body.count)"
        head.headerFields[.xContentTypeOptions] = "nosniff"
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        if endsConnection { head.headerFields[.connection] = "close" }
        return head
    }
}
