import Concurrency
import GatewayKit
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
    /// What it listens with now.
    private let bound = Mutex<(port: Int?, connections: WebConnections)?>(nil)

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
    /// Its connections now.
    var connections: WebConnections? { bound.withLock { $0?.connections } }

    /// Makes `run` end. Returns at once.
    func stop() { stopping.fulfil(()) }

    /// Listens until `stop` is called or the task is cancelled.
    func run() async {
        var backOff = BackOff(first: Self.firstWait, longest: Self.longestWait)
        var generator = SystemRandomNumberGenerator()
        var failures = RepeatedNotice()
        while stopping.value == nil, !Task.isCancelled {
            let began = settings.clock.uptime
            let failure = await open()
            guard let failure, stopping.value == nil, !Task.isCancelled else { break }
            tried.fulfil(.failure(failure))
            if isTrial, case .failure? = tried.value {
                _ = try? await stopping.wait()
                break
            }
            settings.documents.senders.failed("web: \(failure)")
            // What was open so long begins anew.
            if settings.clock.uptime - began >= Self.longestWait {
                backOff.reset()
                failures = RepeatedNotice()
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
        let (listen, clock, logger) = (configuration.listen, settings.clock, settings.logger)
        let connections = WebConnections(
            behind: configuration.proxies, isEncrypted: listen.tls != nil,
            allowsPlainSecret: configuration.allowsPlainSecret, clock: clock, logger: logger)
        let server: @Sendable () async throws -> Void
        do { server = try prepared(connections) } catch {
            return error as? ListenError ?? ListenError(error, at: listen.address)
        }
        let failure = await withTaskGroup(of: ListenError?.self) { group in
            group.addTask {
                do { try await server() } catch {
                    return error as? ListenError ?? ListenError(error, at: listen.address)
                }
                return ListenError("The listener at \(listen.address) was closed.")
            }
            group.addTask { [stopping] in
                _ = try? await stopping.wait()
                return nil
            }
            let failure = await group.next() ?? nil
            await connections.refuse()
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
        let answering = WebResponder(settings: settings, connections: connections, pages: pages)
        let plain = HTTP1Channel(
            responder: { try await answering.respond($0, $1, $2) },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [handshakes.handler, RequestDeadline(headTime)],
                httpDecoderConfiguration: decoder))
        guard let tls = try configuration.listen.tls?.serverConfiguration() else {
            return serving(plain, plain, connections)
        }
        return serving(try TLSChannel(plain, tlsConfiguration: tls), plain, connections)
    }

    private func serving<Base: ServerChildChannel>(
        _ base: Base, _ plain: HTTP1Channel, _ connections: WebConnections
    ) -> @Sendable () async throws -> Void where Base.Value == HTTP1Channel.Value {
        // The library's own lines say less than ours.
        var logger = settings.logger
        logger.logLevel = .critical
        let channel = CountedChannel(base: base, plain: plain, connections: connections)
        let address = configuration.listen.address
        let server = channel.server(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port), availableConnectionsDelegate: connections),
            onServerRunning: { server in
                await connections.gate.open(server)
                self.bound.withLock { $0 = (server.localAddress?.port, connections) }
                self.settings.logger.info("The gateway listens.", metadata: ["address": "\(address)"])
                self.settings.documents.senders.opened()
                self.tried.fulfil(.success(()))
            }, eventLoopGroup: Self.eventLoops, logger: logger)
        return { try await server.run() }
    }
}
