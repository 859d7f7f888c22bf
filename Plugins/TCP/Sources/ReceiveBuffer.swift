import Concurrency
import GatewayKit
import NIOCore
import Synchronization

/// Received bytes that are not read yet. It asks the channel for more only while there is room, so that TCP itself
/// slows down a device that sends faster than the gateway reads.
///
/// SwiftNIO's `NIOAsyncChannel` does not fit: its iterator belongs to one task and returns one buffer at a time, but
/// several tasks may read a link in turn, and a read takes all waiting bytes at once.
final class ReceiveBuffer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// Receiving pauses at this level and resumes at half of it. It is four of the greatest receive buffers, so that a
    /// reader that takes 64 KiB at a time never waits for the event loop at full speed.
    static let capacity = 256 * 1024
    /// The greatest receive buffer.
    static let greatestBuffer = 64 * 1024
    /// The system's own receive buffer, which Linux doubles. SwiftNIO takes all of it when the device ends the
    /// connection, so it needs a bound, too; the system's default is 6 MiB per connection.
    static let systemBuffer = 256 * 1024

    private struct State {
        var bytes = ByteBuffer()
        var end: Result<Void, LinkError>?
        var isPaused = false
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    private let endpoint: Endpoint

    init(endpoint: Endpoint) { self.endpoint = endpoint }

    /// How many bytes are waiting, and whether receiving is paused because of them.
    var level: (bytes: Int, isPaused: Bool) { state.withLock { ($0.bytes.readableBytes, $0.isPaused) } }

    /// Takes what has arrived, or waits for it; empty at the end. `resume` asks the channel for more.
    func read(atMost limit: Int, resume: () -> Void) async throws(LinkError) -> [UInt8] {
        while true {
            let (bytes, end, isResumed) = state.withLock { state -> ([UInt8], Result<Void, LinkError>?, Bool) in
                let bytes = state.bytes.readBytes(length: min(limit, state.bytes.readableBytes)) ?? []
                // An idle connection keeps no buffer.
                if state.bytes.readableBytes == 0 { state.bytes = ByteBuffer() }
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
            await arrival.wait()
        }
    }

    private func finish(_ end: Result<Void, LinkError>) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = end
        }
        arrival.wake()
    }
}

extension ReceiveBuffer {
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
        }
        arrival.wake()
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

/// The buffers into which a connection receives. Their size follows the traffic, and each is freed with its last byte: used again by
/// SwiftNIO's pool, they would keep their greatest size as long as the connection lasts, which a history makes 64 KiB.
///
/// It needs one read for each turn of the event loop: the pool keeps as many buffers, which are then the first one alone.
struct ReceiveAllocator: RecvByteBufferAllocator {
    private var sizes = AdaptiveRecvByteBufferAllocator(
        minimum: 1024, initial: 1024, maximum: ReceiveBuffer.greatestBuffer)

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { sizes.buffer(allocator: allocator) }

    /// Says that the next buffer may be larger, so that it is a new one.
    mutating func record(actualReadBytes: Int) -> Bool {
        _ = sizes.record(actualReadBytes: actualReadBytes)
        return true
    }
}
