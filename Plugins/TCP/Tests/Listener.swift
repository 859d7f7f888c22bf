import GatewayKit
import Logging
import NIOCore
import NIOPosix
import Vitals

@testable import TCP

/// The device's end of a connection.
typealias Peer = NIOAsyncChannel<ByteBuffer, ByteBuffer>

/// Listens on a free loopback port, and hands the first connection to `serve` while `body` runs.
func withListener(
    serve:
        @escaping @Sendable (NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>)
        async throws -> Void,
    _ body: @Sendable (TCPTransport) async throws -> Void
) async throws {
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .bind(host: "127.0.0.1", port: 0) { channel in
            channel.eventLoop.makeCompletedFuture {
                try Peer(
                    wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
            }
        }
    let port = listener.channel.localAddress?.port ?? 0
    try await listener.executeThenClose { connections in
        try await withThrowingTaskGroup { group in
            group.addTask {
                for try await peer in connections {
                    // The gateway's closing of the connection is not a failure of the test.
                    try? await peer.executeThenClose { inbound, outbound in try await serve(inbound, outbound) }
                    break
                }
            }
            try await body(transport(port: port))
            group.cancelAll()
        }
    }
}

extension NIOAsyncChannelOutboundWriter<ByteBuffer> {
    /// Ends the stream after all that was written, and waits until the gateway closes the connection: closing at once
    /// would discard unsent bytes.
    func finish(andAwait inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws {
        finish()
        for try await _ in inbound {}
    }
}

/// A transport with these options.
func transport(host: String = "127.0.0.1", port: Int, timeout: String = "10s") throws -> TCPTransport {
    var reader = ConfigurationReader(
        .map(["host": host, "port": "\(port)", "connect_timeout": timeout]))
    let transport = TCPTransport(options: &reader)
    let issues = reader.finish()
    guard issues.isEmpty else { throw Unexpected(text: "\(issues)") }
    return transport
}

struct Unexpected: Error { var text: String }

extension ConfigurationValue {
    /// A map of plain words, each on its own line.
    static func map(_ members: KeyValuePairs<String, String>) -> ConfigurationValue {
        ConfigurationValue(
            .map(
                members.enumerated().map { index, member in
                    (
                        ConfigurationKey(member.key, line: index + 1),
                        ConfigurationValue(.scalar(member.value, isQuoted: false), line: index + 1)
                    )
                }), line: 1)
    }
}

extension TCPTransport {
    /// Opens a connection to the device that listens.
    func connect() async throws -> TCPLink {
        guard case .connect(let connector) = way else { throw Unexpected(text: "no device that listens") }
        return try await connector.connect()
    }

    /// Opens a byte link.
    func withBytes(_ body: @Sendable (any ByteLink) async throws -> Void) async throws {
        let context = LinkContext(device: try DeviceID("band-1").orThrow(), logger: Logger(label: "test"))
        try await withLink(context: context) { link in
            guard case .bytes(let bytes) = link else { throw Unexpected(text: "no stream of bytes") }
            try await body(bytes)
        }
    }
}

extension Optional {
    /// The value, or a test failure if it is `nil`.
    func orThrow() throws -> Wrapped {
        guard let self else { throw Unexpected(text: "nil") }
        return self
    }
}
