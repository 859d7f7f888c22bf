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
    /// The most bytes of all waiting messages: the answer that is read next, and one more.
    static let waitingLimit = 2 * messageLimit
    /// The most frames of one message.
    static let frameLimit = 4_096

    private struct State {
        var messages: [[UInt8]] = []
        var bytes = 0
        var end: HomeAssistantError?

        mutating func takeFirst() -> [UInt8]? {
            guard !messages.isEmpty else { return nil }
            let message = messages.removeFirst()
            bytes -= message.count
            return message
        }

        /// Adds a message if there is room, and returns whether there was. Behind a message that was dropped there is none.
        mutating func add(_ message: [UInt8]) -> Bool {
            guard end == nil, messages.count < countLimit, bytes + message.count <= waitingLimit else { return false }
            messages.append(message)
            bytes += message.count
            return true
        }
    }
    private let state = Mutex(State())
    private let arrival = Signal()

    /// The next message, or the end.
    func next() async throws -> [UInt8] {
        while true {
            let (message, end) = state.withLock { state in (state.takeFirst(), state.end) }
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
            let hasRoom = state.withLock { $0.add(bytes) }
            if !hasRoom {
                finish("it sends what the gateway did not ask for")
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
            if state.end == nil { state.end = .offline(why) }
        }
        arrival.wake()
    }
}
