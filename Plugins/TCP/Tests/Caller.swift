import GatewayKit
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Vitals

@testable import TCP

/// A device that calls.
struct Caller: Sendable {
    let link: TCPLink

    /// Connects to a listener, from an address of loopback, with TLS if there is a context.
    init(port: Int, from source: String = "127.0.0.1", tls: NIOSSLContext? = nil) async throws {
        link = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(to: SocketAddress(ipAddress: source, port: 0))
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    let inbox = ReceiveBuffer(endpoint: Endpoint(host: "127.0.0.1", port: port))
                    try channel.pipeline.syncOperations.addHandler(inbox)
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .flatMap { channel in
                channel.pipeline.handler(type: ReceiveBuffer.self).map { inbox in
                    TCPLink(channel: channel, inbox: inbox, endpoint: Endpoint(host: "127.0.0.1", port: port))
                }
            }.get()
    }

    func send(_ text: String) async throws { try await link.write(Array(text.utf8)) }

    /// Introduces itself.
    func introduce(_ device: String, _ token: String) async throws {
        try await send("{\"device\":\"\(device)\",\"token\":\"\(token)\"}\n")
    }

    /// The next line; `nil` at the end of the connection.
    func line() async throws -> String? {
        var line: [UInt8] = []
        while let byte = try await link.read(atMost: 1).first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}

/// A listener on a free port of loopback, with the gateway's side of its devices.
struct Reception: Sendable {
    let listener: TCPListener
    let services: RunningServices
    let port: Int

    /// Runs `body` while it listens. A clock of the test may replace the system's.
    static func with(
        _ options: KeyValuePairs<String, ConfigurationValue> = [:], clock: GatewayClock = .system,
        logger: Logger = Logger(label: "test"),
        _ body: @escaping @Sendable (Reception) async throws -> Void
    ) async throws {
        var members: [(ConfigurationKey, ConfigurationValue)] = [
            (ConfigurationKey("listen"), ConfigurationValue(.scalar("127.0.0.1:0", isQuoted: true)))
        ]
        members += options.map { (ConfigurationKey($0.key), $0.value) }
        var reader = ConfigurationReader(ConfigurationValue(.map(members)))
        let listener = TCPListener(options: &reader)
        let issues = reader.finish()
        guard issues.isEmpty else { throw Unexpected(text: "\(issues)") }
        let context = ServiceContext(clock: clock, logger: logger)
        try await listener.withService(context: context) {
            try await body(
                Reception(listener: listener, services: RunningServices([listener]), port: listener.port.orThrow()))
        }
    }

    /// Lets a device call before the gateway's first attempt, so that the order of a test is certain.
    func expect(_ device: String, token: String, presence: DevicePresence = DevicePresence()) throws {
        listener.callers.expect(try DeviceID(device).orThrow(), token: Secret(token), presence: presence)
    }

    /// The gateway's attempt to connect a device: waits for its call, and runs `body` with the link.
    func await(
        _ device: String, token: String, presence: DevicePresence = DevicePresence(),
        _ body: @escaping @Sendable (any ByteLink) async throws -> Void
    ) async throws {
        let place = ConfigurationPlace(environment: ["TOKEN": token])
        let secret = ConfigurationValue.map(["env": "TOKEN"])
        var reader = ConfigurationReader(
            ConfigurationValue(
                .map([
                    (ConfigurationKey("listen"), ConfigurationValue(.scalar("true", isQuoted: false))),
                    (ConfigurationKey("token"), secret),
                ])), place: place)
        let transport = TCPTransport(options: &reader)
        let issues = reader.finish()
        guard issues.isEmpty else { throw Unexpected(text: "\(issues)") }
        let context = LinkContext(
            device: try DeviceID(device).orThrow(), logger: Logger(label: "test"), services: services,
            presence: presence)
        try await transport.withLink(context: context) { link in
            guard case .bytes(let bytes) = link else { throw Unexpected(text: "no stream of bytes") }
            try await body(bytes)
        }
    }

    /// An attempt that answers one line with the device's name and the line, and then ends.
    func echo(_ device: String, token: String) async throws {
        try await self.await(device, token: token) { link in
            var line: [UInt8] = []
            while !line.contains(UInt8(ascii: "\n")) { line += try await link.read(atMost: 100) }
            try await link.write(Array("\(device): ".utf8) + line)
        }
    }
}
