package import GatewayKit
import Listening
import Vitals

/// Carries bytes over TCP. Either the gateway connects to the device, or the device calls the gateway (`listen: true`).
package struct TCPTransport: Transport {
    /// `type: tcp`.
    package static let name = "tcp"
    /// A stream of bytes.
    package static let link = LinkKind.bytes
    /// The connection, and the look-up of its name before it or a second call that takes its place.
    package static let descriptors = 2

    enum Way: Sendable {
        case connect(TCPConnector)
        case listen(token: Secret)
    }
    let way: Way

    /// Reads `host`, `port` and `connect_timeout`, or `listen` and `token`.
    package init(options: inout ConfigurationReader) {
        let isCalled = options.flag("listen", default: false, about: "Whether the device calls the gateway.")
        if options.isDescribing { _ = TCPConnector(options: &options) }
        guard isCalled || options.isDescribing else {
            way = .connect(TCPConnector(options: &options))
            return
        }
        let token = options.token("token", about: "The secret of a device that calls.")
        if token == nil, options.value("token") == nil {
            options.report("token is missing: the device's secret, as {file: PATH} or {env: NAME}.", at: "listen")
        }
        way = .listen(token: token ?? Secret(""))
    }

    /// A device that calls needs the listener.
    package var service: (any PluginService.Type)? {
        if case .listen = way { TCPListener.self } else { nil }
    }

    /// The thread of all connections takes a turn.
    package static func answer() async { await TCPChannel.eventLoops.answer() }

    /// Connects, or waits for the device's call, and closes the connection when `body` ends.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        switch way {
        case .connect(let connector): try await connector.connect().use { link in try await body(.bytes(link)) }
        case .listen(let token): try await withCall(token, context, body)
        }
    }

    private func withCall(
        _ token: Secret, _ context: LinkContext, _ body: @Sendable (Link) async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(body) { body in
            try await context.services.with(TCPListener.self) { listener in
                try await listener.withCall(of: context.device, token: token, presence: context.presence) { link in
                    try await body(.bytes(link))
                }
            }
        }
    }
}
