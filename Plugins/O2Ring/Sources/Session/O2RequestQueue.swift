import GatewayKit
import Synchronization
import Vitals

/// Asks a ring one thing after the other. Its replies do not say what they answer: a request that was not answered ends the queue, and
/// after one that was repeated the other answer is waited for.
final class O2RequestQueue: Sendable {
    /// The pause after which a ring has not understood a request.
    static let timeout: Duration = .seconds(3)
    /// The number of attempts of a request: every request may be repeated.
    static let attempts = 2
    /// The bytes of one write (fact of the maker's library).
    static let pieceLength = 20
    /// The pause after a write (fact of the maker's library).
    static let pause: Duration = .milliseconds(20)

    private let link: any GATTLink
    private let target: GATTCharacteristic
    private let clock: GatewayClock
    let requests: RequestQueue<OxiReply>
    private let assembler = Mutex(OxiReplyAssembler())

    init(_ link: any GATTLink, requests target: GATTCharacteristic, clock: GatewayClock) {
        self.link = link
        self.target = target
        self.clock = clock
        requests = RequestQueue(
            to: "ring", clock: clock, timeout: Self.timeout, attempts: Self.attempts, identifiesReplies: false)
    }

    /// Sends one request, and waits for its reply.
    /// - Throws: `failure` if the ring does not do it.
    func ask(_ request: OxiRequest) async throws(DeviceError) -> OxiReply {
        try await requests.perform { () async throws(DeviceError) in try await self.exchange(request) }
    }

    /// Sends a request within `requests.perform`, and waits for its reply.
    func exchange(_ request: OxiRequest) async throws(DeviceError) -> OxiReply {
        try await exchange { request }
    }

    /// Sends a request within `requests.perform`, made anew for each attempt, and waits for its reply.
    func exchange(_ request: @escaping @Sendable () -> OxiRequest) async throws(DeviceError) -> OxiReply {
        let reply = try await requests.exchange(for: OxiReply()) { () async throws(DeviceError) in
            self.assembler.withLock { $0.reset() }
            try await self.send(request().bytes)
        }
        guard reply.status == 0 else {
            throw DeviceError(.failure, "The ring refused \(request().command) (status \(reply.status)).")
        }
        return reply
    }

    /// Takes a value. Returns how many of its bytes were no part of a reply.
    func receive(_ value: [UInt8]) async -> Int {
        let (replies, passed) = assembler.withLock { assembler -> ([OxiReply], Int) in
            let before = assembler.passed
            let replies = assembler.append(value)
            return (replies, assembler.passed - before)
        }
        for reply in replies { await requests.receive(reply) }
        return passed
    }

    private func send(_ bytes: [UInt8]) async throws(DeviceError) {
        for start in stride(from: 0, to: bytes.count, by: Self.pieceLength) {
            if start > 0 { try? await clock.sleep(for: Self.pause) }
            let piece = Array(bytes[start..<min(start + Self.pieceLength, bytes.count)])
            do { try await link.write(piece, to: target, target.fastestWrite) } catch {
                throw DeviceError(error, "The request to the ring")
            }
        }
    }
}

/// The next reply, whichever it is: it does not say what it answers.
extension OxiReply: ReplyCollector {
    mutating func collect(_ reply: OxiReply) -> ReplyProgress {
        self = reply
        return .done
    }
}
