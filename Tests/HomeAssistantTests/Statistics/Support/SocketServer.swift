import Concurrency
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket on loopback that answers each text by a script.
final class SocketServer: Sendable {
    let channel: any Channel
    /// Fulfilled when a client has closed its connection.
    let isLeft: Promise<Void>
    var port: Int { channel.localAddress?.port ?? 0 }

    /// - Parameter answer: the frames for a text; the text is empty when the connection begins.
    init(
        takes: Bool = true, reads: Bool = true, _ answer: @escaping @Sendable (String) -> [WebSocketFrame]
    ) async throws {
        let isLeft = Promise<Void>()
        self.isLeft = isLeft
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(takes ? HTTPHeaders() : nil) },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Script(answer: answer, isLeft: isLeft))
                }.flatMap { channel.setOption(.autoRead, value: reads) }
            })
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline(
                    withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private final class Script: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame
        let answer: @Sendable (String) -> [WebSocketFrame]
        let isLeft: Promise<Void>
        init(answer: @escaping @Sendable (String) -> [WebSocketFrame], isLeft: Promise<Void>) {
            (self.answer, self.isLeft) = (answer, isLeft)
        }

        func channelInactive(context: ChannelHandlerContext) {
            isLeft.fulfil(())
            context.fireChannelInactive()
        }

        func handlerAdded(context: ChannelHandlerContext) { send(answer(""), context) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            let text = String(buffer: frame.unmaskedData)
            send(answer(frame.opcode == .pong ? "pong:\(text)" : text), context)
        }

        private func send(_ frames: [WebSocketFrame], _ context: ChannelHandlerContext) {
            for frame in frames { context.write(wrapOutboundOut(frame), promise: nil) }
            context.flush()
        }
    }
}

extension WebSocketFrame {
    static func text(_ text: String, isLast: Bool = true, opcode: WebSocketOpcode = .text) -> WebSocketFrame {
        WebSocketFrame(fin: isLast, opcode: opcode, data: ByteBuffer(string: text))
    }
}
