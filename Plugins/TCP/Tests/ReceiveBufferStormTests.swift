import GatewayTesting
import NIOCore
import NIOEmbedded
import Testing

@testable import TCP

/// The event loop adds bytes and ends the connection while readers take turns, and the first is cancelled.
@Suite struct ReceiveBufferStormTests {
    private struct Broken: Error {}

    private static let pieces = 3
    private static let pieceLength = 1000

    /// What the event loop does, on one thread as there: bytes that come in pieces, and the end.
    private static func fill(_ buffer: ReceiveBuffer, isBroken: Bool) {
        let channel = EmbeddedChannel(handler: buffer)
        // It throws only errors that reach the end of the pipeline, and the buffer passes none on.
        for _ in 0..<pieces { _ = try? channel.writeInbound(ByteBuffer(repeating: 7, count: pieceLength)) }
        if isBroken { channel.pipeline.fireErrorCaught(Broken()) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    /// Reads to the end, an error, or the cancellation, and counts the bytes.
    private static func taken(from buffer: ReceiveBuffer) async -> Int {
        var count = 0
        while let bytes = try? await buffer.read(atMost: 700, resume: {}), !bytes.isEmpty { count += bytes.count }
        return count
    }

    @Test func `a buffer that is filled, taken from, given up and ended at once loses no byte and lets everybody go`()
        async
    {
        // A channel costs more than the rest of a round.
        await Storm.run("Received bytes", rounds: Storm.rounds / 5) { number in
            let buffer = ReceiveBuffer(endpoint: Endpoint(host: "127.0.0.1", port: 1))
            let impatient = Task { await Self.taken(from: buffer) }
            return [
                { impatient.cancel() },
                { Self.fill(buffer, isBroken: number % 2 == 1) },
                {
                    let first = await impatient.value
                    let count = await first + Self.taken(from: buffer)
                    if count != Self.pieces * Self.pieceLength { Issue.record("\(count) bytes came") }
                },
            ]
        }
    }
}
