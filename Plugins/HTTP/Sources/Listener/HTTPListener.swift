import Concurrency
package import GatewayKit
import Listening
import Logging
import NIOCore
import Synchronization
import Vitals

/// Takes the documents that devices post: `POST /v1/devices/<id>` with `Authorization: Bearer <token>`.
package final class HTTPListener: PluginService {
    /// An entry of `plugins:`.
    package static let sample = """
          # Where phones post their documents: transport: {type: http}.
          http:
            listen: 127.0.0.1:8480      # 0.0.0.0:8480 for all addresses of this machine, with tls
            #tls: {certificate: http.pem, key: http-key.pem}
            #trusted_proxies: [127.0.0.1]   # they name the sender in X-Forwarded-For or Forwarded

        """
    package static let shared = "the listener for posts"
    /// The listener, its connections, and one that is being accepted.
    package static let descriptors = 2 + maximumConnections + maximumRefused

    /// Where it listens if `listen` is missing.
    static let defaultAddress = "127.0.0.1:8480"
    /// The most connections at a time. Further ones wait in the system until one of these ends.
    static let maximumConnections = 32
    /// The most of them that have had no right token: the others are for devices.
    static let maximumStrangers = maximumConnections * 3 / 4
    /// The most of these of one address: it can keep out nobody else.
    static let strangersPerAddress = maximumConnections / 4
    /// The most connections of one address that have had a right token: with its strangers it leaves some to others.
    static let provenPerAddress = maximumConnections / 2
    /// The most refused connections that are open at a time. Half of them get an answer, and the others only their end.
    static let maximumRefused = 16
    /// How long a sender may take for the head of a request, with the handshake of TLS, and how long a connection stays open for
    /// the next one.
    static let headTime: Duration = .seconds(10)
    /// The most bytes of the head of a request.
    static let maximumHead = 16 << 10
    /// The most headers of a request.
    static let maximumHeaders = 100
    /// How long the rest of a refused document is read, so that its sender reads the refusal.
    static let drainTime: Duration = .seconds(2)
    /// How long the last answers may take at the end.
    static let farewell: Duration = .milliseconds(500)

    let options: ListenOptions
    private let headTime: Duration
    let requests = DocumentRequests()
    let places: SenderPlaces
    /// The address at which it listens now.
    private let bound = Mutex<SocketAddress?>(nil)
    /// The gateway's clock, once it has begun.
    private let clock = Mutex<GatewayClock?>(nil)

    /// Reads `listen`, `tls`, `insecure` and `trusted_proxies`.
    package convenience init(options: inout ConfigurationReader) {
        self.init(options: &options, headTime: Self.headTime)
    }

    /// A listener that waits for a head as long as this, for tests.
    init(options: inout ConfigurationReader, headTime: Duration) {
        let listen = options.listenOptions(default: Self.defaultAddress)
        places = SenderPlaces(behind: options.trustedProxies(), isEncrypted: listen.tls != nil)
        self.options = listen
        self.headTime = headTime
    }

    /// `listen`.
    package var listens: String? { options.address.description }

    /// The port at which it listens now.
    package var port: Int? { bound.withLock { $0?.port } }

    /// Waits for a document of the device, and runs `body` with the link to its documents.
    func withDocuments(
        of device: DeviceID, token: Secret, presence: DevicePresence, _ body: (any DocumentLink) async throws -> Void
    ) async throws {
        guard let clock = clock.withLock({ $0 }) else {
            throw LinkError(.unreachable, "The listener for documents is not open.")
        }
        let documents = requests.senders.expect(device, token: token, presence: presence)
        defer { requests.senders.forget(device, at: clock.uptime) }
        try await documents.withSession(clock: clock, body)
    }

    /// Listens until `body` returns.
    package func withService(
        context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let server = DocumentServer(
            options: options, headTime: TimeAmount(headTime), requests: requests, places: places, context: context)
        let isOpen = Promise<SocketAddress?>()
        let run = try server.prepared { isOpen.fulfil($0) }
        clock.withLock { $0 = context.clock }
        defer { bound.withLock { $0 = nil } }
        let result = await withTaskGroup(of: Result<Void, any Error>.self) { group in
            group.addTask {
                do { try await run() } catch { return .failure(ListenError(error, at: self.options.address)) }
                return .failure(ListenError("The listener at \(self.options.address) was closed."))
            }
            group.addTask {
                do {
                    let address = try await isOpen.wait()
                    self.bound.withLock { $0 = address }
                    context.logger.info("Devices can post.", metadata: ["address": "\(self.options.address)"])
                    return .success(try await body())
                } catch { return .failure(error) }
            }
            let result = await group.next()
            server.connections.refuse()
            group.cancelAll()
            await server.end()
            return result
        }
        await server.connections.serveForgotten()
        try result?.get()
    }

    /// The thread that moves the bytes of all connections takes a turn.
    package func answer() async { await DocumentServer.eventLoops.answer() }
}
