import Concurrency
import NIOCore
import NIOWebSocket
import Synchronization

/// Received messages that are not read yet. There is one command at a time, so little waits here; a peer that sends
/// unasked ends the connection at a limit.
final class MessageBuffer: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// The most bytes of one message: the registry of 30,000 entities.
    static let messageLimit = 16 << 20
    /// The most waiting messages.
    static let countLimit = 64
    /// The most frames of one message.
    static let frameLimit = 4_096

    private struct State {
        var messages: [[UInt8]] = []
        var end: HomeAssistantError?
    }
    private let state = Mutex(State())
    private let arrival = Signal()

    /// The next message, or the end.
    func next() async throws -> [UInt8] {
        while true {
            let (message, end) = state.withLock { state in
                (state.messages.isEmpty ? nil : state.messages.removeFirst(), state.end)
            }
            if let message { return message }
            if let end { throw end }
            if Task.isCancelled { throw CancellationError() }
            await arrival.wait()
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            let bytes = Array(frame.unmaskedData.readableBytesView)
            let isFull = state.withLock { state in
                state.messages.append(bytes)
                return state.messages.count > Self.countLimit
            }
            if isFull {
                finish("it sends what nobody asked for")
                context.close(promise: nil)
            }
            arrival.wake()
        case .ping:
            send(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData), context)
        case .connectionClose:
            finish("it closed the connection")
            send(
                WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: frame.unmaskedData),
                context)
            context.close(promise: nil)
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) { finish("the connection ended") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish("\(error)")
        context.close(promise: nil)
    }

    private func send(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func finish(_ why: String) {
        state.withLock { state in
            if state.end == nil { state.end = .away(why) }
        }
        arrival.wake()
    }
}
