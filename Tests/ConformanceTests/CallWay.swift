import Conformance
import GatewayKit
import GatewayTesting
import Link
import NIOCore
import NIOPosix
import TestSupport
import Vitals

@testable import TCP
@testable import link_wearable

/// A wearable that calls the gateway, introduces itself, and then speaks as over any link.
struct CallWay {
    let model: String
    private static let token = "s3cret"

    func open(_ body: @Sendable (any DeviceSession, DriverConformance.Peer) async throws -> Void) async throws {
        let wearable = try Wearable(model: model)
        let context = wearable.context(.system)
        var options = Self.options([("listen", .scalar("127.0.0.1:0", isQuoted: true))])
        let listener = TCPListener(options: &options)
        try await wearable.withRecordingSession(clock: Wearable.clock) { recording in
            try await withoutActuallyEscaping(body) { body in
                try await listener.withService(context: ServiceContext(clock: .system, logger: context.logger)) {
                    try await self.meet(wearable, recording, context, listener, body)
                }
            }
        }
    }

    private func meet(
        _ wearable: Wearable, _ recording: RecordingSession, _ context: SessionContext, _ listener: TCPListener,
        _ body: @Sendable (any DeviceSession, DriverConformance.Peer) async throws -> Void
    ) async throws {
        let link = LinkContext(device: wearable.id, logger: context.logger, services: RunningServices([listener]))
        // The device may call before the gateway's first attempt.
        listener.callers.expect(wearable.id, token: Secret(Self.token), presence: link.presence)
        try await withThrowingTaskGroup { group in
            let connected = Recorder<any Channel>()
            group.addTask { try await call(wearable, recording, port: listener.port ?? 0, connected) }
            defer { group.cancelAll() }
            try await Self.transport().withLink(context: link) { link in
                try await linkDriver().withSession(over: link, context: context) { session in
                    let channel = try await connected.wait { !$0.isEmpty }[0]
                    try await body(session, recording.peer { try? await channel.close().get() })
                }
            }
        }
    }

    /// The device's side of a call.
    private func call(
        _ wearable: Wearable, _ recording: RecordingSession, port: Int, _ connected: Recorder<any Channel>
    ) async throws {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        connected.append(connection.channel)
        // Either end may close it first.
        try? await connection.executeThenClose { inbound, outbound in
            let introduction = "{\"device\":\"\(wearable.id)\",\"token\":\"\(Self.token)\"}\n"
            try await outbound.write(ByteBuffer(string: introduction))
            await LinkServer(recording, over: ChannelLink(inbound, outbound)).run()
        }
    }

    private static func transport() -> TCPTransport {
        let token = ConfigurationValue(.scalar("TOKEN", isQuoted: true))
        var options = options([
            ("listen", .scalar("true", isQuoted: false)), ("token", .map([(ConfigurationKey("env"), token)])),
        ])
        return TCPTransport(options: &options)
    }

    /// A reader of options. The secret is in the environment.
    private static func options(_ members: [(String, ConfigurationValue.Content)]) -> ConfigurationReader {
        ConfigurationReader(
            ConfigurationValue(.map(members.map { (ConfigurationKey($0.0), ConfigurationValue($0.1)) })),
            place: ConfigurationPlace(environment: ["TOKEN": token]))
    }
}
