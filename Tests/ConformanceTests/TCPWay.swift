import Conformance
import GatewayKit
import GatewayTesting
import Link
import NIOCore
import NIOPosix
import TCP
import TestSupport
import Vitals

@testable import link_wearable

/// A wearable that listens on a free loopback port.
struct TCPWay {
    let model: String

    func open(_ body: @Sendable (any DeviceSession, DriverConformance.Peer) async throws -> Void) async throws {
        let wearable = try Wearable(model: model)
        let context = wearable.context(.system)
        try await wearable.withRecordingSession(clock: Wearable.clock) { recording in
            let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .bind(host: "127.0.0.1", port: 0) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            try await listener.executeThenClose { connections in
                try await withThrowingTaskGroup { group in
                    let connected = Recorder<any Channel>()
                    group.addTask { try await serve(recording, connections, connected) }
                    defer { group.cancelAll() }
                    try await transport(to: listener.channel.localAddress?.port ?? 0).withLink(
                        context: LinkContext(device: wearable.id, logger: context.logger)
                    ) { link in
                        try await linkDriver().withSession(over: link, context: context) { session in
                            let channel = try await connected.wait { !$0.isEmpty }[0]
                            try await body(session, recording.peer { try? await channel.close().get() })
                        }
                    }
                }
            }
        }
    }

    /// Serves the first connection.
    private func serve(
        _ recording: RecordingSession,
        _ connections: NIOAsyncChannelInboundStream<NIOAsyncChannel<ByteBuffer, ByteBuffer>>,
        _ connected: Recorder<any Channel>
    ) async throws {
        for try await connection in connections {
            connected.append(connection.channel)
            // Either end may close it first.
            try? await connection.executeThenClose { inbound, outbound in
                await LinkServer(recording, over: ChannelLink(inbound, outbound)).run()
            }
            return
        }
    }

    private func transport(to port: Int) -> TCPTransport {
        var options = ConfigurationReader(.section(["host": "127.0.0.1", "port": "\(port)"]))
        return TCPTransport(options: &options)
    }
}

/// The device's end of a connection.
actor ChannelLink: ByteLink {
    private var input: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator?
    private let output: NIOAsyncChannelOutboundWriter<ByteBuffer>

    init(_ input: NIOAsyncChannelInboundStream<ByteBuffer>, _ output: NIOAsyncChannelOutboundWriter<ByteBuffer>) {
        self.input = input.makeAsyncIterator()
        self.output = output
    }

    /// One task reads at a time: the iterator is taken out during the wait.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        guard var iterator = input.take() else { return [] }
        defer { input = iterator }
        do {
            return try await iterator.next(isolation: self).map { Array($0.readableBytesView) } ?? []
        } catch {
            throw LinkError(.broken, "\(error)")
        }
    }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        do { try await output.write(ByteBuffer(bytes: bytes)) } catch { throw LinkError(.broken, "\(error)") }
    }
}
