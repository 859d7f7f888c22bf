import GatewayKit
import NIOCore
import Synchronization

/// What was received and not read yet. It asks the channel for more only while there is room, so that a device which
/// sends faster than the gateway reads is held back by TCP itself.
///
/// SwiftNIO's `NIOAsyncChannel` is not used here, because its iterator belongs to one task and hands over one buffer at a
/// time; a link may be read by several tasks in turn, and takes all that is waiting at once.
final class Inbox: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// Once so much is waiting, no more is received until half of it was read. Four of the greatest receive buffers: a
    /// reader that takes 64 KiB a time never waits for the event loop at full speed.
    static let capacity = 256 * 1024
    /// The greatest receive buffer. A connection at rest keeps the smallest.
    static let greatestBuffer = 64 * 1024
    /// The system's own receive buffer, which Linux doubles. SwiftNIO takes all of it when the device ends the connection, so
    /// it must have a bound, too; the system's own is 6 MiB for each connection.
    static let systemBuffer = 256 * 1024
    /// The most that can wait here: a full inbox, one turn of SwiftNIO's receive loop (four buffers), and the system's.
    static let greatestLevel = capacity + 4 * greatestBuffer + 2 * systemBuffer
    /// Receives into a buffer that grows and shrinks with what comes.
    static let allocator = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 8 * 1024, maximum: greatestBuffer)

    private struct State {
        var bytes = ByteBuffer()
        var end: Result<Void, LinkError>?
        var isPaused = false
        var reader: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())
    private let endpoint: Endpoint

    init(endpoint: Endpoint) { self.endpoint = endpoint }

    /// How many bytes are waiting, and whether receiving is paused because of them.
    var level: (bytes: Int, isPaused: Bool) { state.withLock { ($0.bytes.readableBytes, $0.isPaused) } }

    /// Takes what is there, or waits for it; empty at the end. `resume` asks the channel for more.
    func read(atMost limit: Int, resume: () -> Void) async throws(LinkError) -> [UInt8] {
        while true {
            let (bytes, end, isResumed) = state.withLock { state -> ([UInt8], Result<Void, LinkError>?, Bool) in
                let bytes = state.bytes.readBytes(length: min(limit, state.bytes.readableBytes)) ?? []
                let isResumed = state.isPaused && state.bytes.readableBytes <= Self.capacity / 2
                if isResumed { state.isPaused = false }
                return (bytes, state.end, isResumed)
            }
            if isResumed { resume() }
            if !bytes.isEmpty { return bytes }
            if let end {
                try end.get()
                return []
            }
            if Task.isCancelled { throw .closed(endpoint) }
            await waitForBytes()
        }
    }

    private func waitForBytes() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if state.bytes.readableBytes > 0 || state.end != nil || Task.isCancelled {
                        continuation.resume()
                    } else {
                        state.reader = continuation
                    }
                }
            }
        } onCancel: {
            state.withLock { $0.reader.take()?.resume() }
        }
    }

    private func finish(_ end: Result<Void, LinkError>) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = end
            state.reader.take()?.resume()
        }
    }
}

extension Inbox {
    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { context.read() }
    }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var received = unwrapInboundIn(data)
        state.withLock { state in
            if state.bytes.readableBytes == 0 {
                state.bytes = received
            } else {
                state.bytes.discardReadBytes()
                state.bytes.writeBuffer(&received)
            }
            state.reader.take()?.resume()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let hasRoom = state.withLock { state in
            state.isPaused = state.bytes.readableBytes >= Self.capacity
            return !state.isPaused
        }
        if hasRoom { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) { finish(.success(())) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(.failure(.broken(error, endpoint)))
        context.close(promise: nil)
    }
}
