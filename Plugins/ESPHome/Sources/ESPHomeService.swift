package import GatewayKit
import Listening
import NIOPosix
import Synchronization
import Vitals

/// ESPHome's Bluetooth proxies, which all devices share.
package final class ESPHomeService: ScanningService {
    /// `type: esphome`.
    package static let transport: any Transport.Type = ESPHomeTransport.self

    /// An entry of `plugins:`.
    package static let sample = """
          # ESPHome's Bluetooth proxies: {type: esphome}.
          esphome:
            proxies:
              - host: 192.0.2.17        # its name or address
                exclusive: true         # it is the gateway's own: Home Assistant and others do not use it
                #port: 6053
                #key: {file: proxy.key} # its api: encryption: key:
                #name: bedroom-proxy    # the name that it must have
            #turn: 2m                   # how long a link lasts at least while others wait

        """
    package static let shared = "the connection to ESPHome's proxies"
    /// A connection to each proxy, the look-up of a name, and the thread.
    package static let descriptors = ESPHomeOptions.mostProxies + 4

    /// The thread of all connections. It lives as long as the process, like SwiftNIO's own.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let options: ESPHomeOptions
    private let open = Mutex<ProxyRadio?>(nil)

    /// Reads `proxies` and `turn`.
    package init(options: inout ConfigurationReader) { self.options = ESPHomeOptions(&options) }

    /// A service with these options.
    init(_ options: ESPHomeOptions) { self.options = options }

    /// The proxies, while they are connected.
    func radio() throws(LinkError) -> ProxyRadio {
        guard let radio = open.withLock({ $0 }) else {
            throw LinkError(.unreachable, "ESPHome's proxies are not open.")
        }
        return radio
    }

    /// Keeps the exclusive proxies connected until `body` returns.
    package func withService(
        context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let radio = ProxyRadio(options, clock: context.clock, logger: context.logger)
        set(radio)
        defer { set(nil) }
        try await radio.run(body)
    }

    /// Its lock must not be inlined where a wait lies between two of them: Decision 165.
    @inline(never)
    private func set(_ radio: ProxyRadio?) { open.withLock { $0 = radio } }

    /// The thread of the connections takes a turn.
    package func answer() async { await Self.eventLoops.answer() }

    /// Listens with the exclusive proxies, without disturbing their devices.
    package func scan(for duration: Duration) async throws(LinkError) -> [NearbyDevice] {
        try await radio().nearby(for: duration)
    }

    /// Whether each proxy can be reached, has the right key and can connect devices. It subscribes to nothing.
    package func examine(context: ServiceContext) async -> [Finding] {
        await ProxyRadio(options, clock: context.clock, logger: context.logger).findings()
    }
}
