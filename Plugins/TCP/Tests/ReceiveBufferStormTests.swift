import GatewayTesting
import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import TCP

/// The event loop adds bytes and ends the connection while readers take turns, and the first is cancelled.
@Suite struct ReceiveBufferStormTests {
    private struct Broken: Error {}

    /// How often receiving resumed, in all rounds.
    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func increase() { value.withLock { $0 += 1 } }
    }

    /// More than the buffer's capacity in all, so that it pauses until readers have made room.
    private static let pieces = 3
    private static let piece = ByteBuffer(repeating: 7, count: 100 * 1024)

    /// What the event loop does, on one thread as there: bytes that come in pieces, and the end.
    private static func fill(_ buffer: ReceiveBuffer, isBroken: Bool) {
        let channel = EmbeddedChannel(handler: buffer)
        // It throws only errors that reach the end of the pipeline, and the buffer passes none on.
        for _ in 0..<pieces { _ = try? channel.writeInbound(piece) }
        if isBroken { channel.pipeline.fireErrorCaught(Broken()) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    /// Reads to the end, an error, or the cancellation, and counts the bytes and the times that receiving resumed.
    private static func taken(from buffer: ReceiveBuffer, _ resumed: Counter) async -> Int {
        var count = 0
        while let bytes = try? await buffer.read(
            atMost: 32 * 1024, resume: { resumed.increase() }), !bytes.isEmpty
        {
            count += bytes.count
        }
        return count
    }

    @Test func `a buffer that is filled, taken from, given up and ended at once loses no byte and lets everybody go`()
        async
    {
        // A channel costs more than the rest of a round.
        let resumed = Counter()
        await Storm.run("Received bytes", rounds: Storm.rounds / 5) { number in
            let buffer = ReceiveBuffer(endpoint: Endpoint(host: "127.0.0.1", port: 1))
            let cancelled = Task { await Self.taken(from: buffer, resumed) }
            return [
                { cancelled.cancel() },
                { Self.fill(buffer, isBroken: number % 2 == 1) },
                {
                    let first = await cancelled.value
                    let count = await first + Self.taken(from: buffer, resumed)
                    if count != Self.pieces * Self.piece.readableBytes { Issue.record("\(count) bytes came") }
                    if buffer.level.isPaused { Issue.record("The empty buffer still pauses") }
                },
            ]
        }
        #expect(resumed.count > 0)
    }
}
