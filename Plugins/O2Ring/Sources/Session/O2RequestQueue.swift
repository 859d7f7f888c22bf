import Concurrency
import GatewayKit
import Vitals

/// Asks a ring one thing after the other. Its replies do not say what they answer: a request that was not answered ends the line, and
/// after one that was repeated the other answer is waited for.
actor O2RequestQueue {
    /// The pause after which a ring has not understood a request.
    static let timeout: Duration = .seconds(3)
    /// The number of attempts of a request: every request may be repeated.
    static let attempts = 2
    /// The bytes of one write (fact of the maker's library).
    static let pieceLength = 20
    /// The pause after a write (fact of the maker's library).
    static let pause: Duration = .milliseconds(20)

    private let link: any GATTLink
    private let requests: GATTCharacteristic
    private let clock: GatewayClock
    private let runner = SerialRunner()
    private var assembler = OxiReplyAssembler()
    private var answer: Promise<Result<OxiReply, DeviceError>>?
    /// Whether a second answer may come, since a request was sent twice, and until when.
    private var isOwed = false
    private var owedUntil: Duration = .zero
    private let owed = Signal()
    private var end: DeviceError?

    init(_ link: any GATTLink, requests: GATTCharacteristic, clock: GatewayClock) {
        self.link = link
        self.requests = requests
        self.clock = clock
    }

    /// Asks until the task is cancelled.
    nonisolated func run() async { await runner.run() }

    /// Why nothing can be asked any more.
    var failure: DeviceError? { end }

    /// Runs a sequence of exchanges without others between them.
    nonisolated func perform<Value: Sendable>(
        _ operation: @escaping @Sendable (O2RequestQueue) async throws(DeviceError) -> Value
    ) async throws(DeviceError) -> Value {
        let result = await runner.perform { () -> Result<Value, DeviceError> in
            do throws(DeviceError) { return .success(try await operation(self)) } catch { return .failure(error) }
        }
        guard let result else { throw DeviceError(.disconnected, "The gateway no longer waits for the ring.") }
        return try result.get()
    }

    /// Sends one request, and waits for its reply.
    /// - Throws: `failure` if the ring does not do it.
    nonisolated func ask(_ request: OxiRequest) async throws(DeviceError) -> OxiReply {
        try await perform { (queue) async throws(DeviceError) in try await queue.exchange(request) }
    }

    /// Sends a request within `perform`, and waits for its reply.
    func exchange(_ request: OxiRequest) async throws(DeviceError) -> OxiReply {
        try await exchange { request }
    }

    /// Sends a request within `perform`, made anew for each attempt, and waits for its reply.
    func exchange(_ request: @Sendable () -> OxiRequest) async throws(DeviceError) -> OxiReply {
        defer { answer = nil }
        await passOwed()
        for attempt in 0..<Self.attempts {
            if let end { throw end }
            let answer = Promise<Result<OxiReply, DeviceError>>()
            self.answer = answer
            assembler.reset()
            let request = request()
            isOwed = attempt > 0
            try await send(request.bytes)
            let result = await clock.withTimeout(Self.timeout) { try? await answer.wait() }
            switch result {
            case .some(.some(let result)):
                owedUntil = clock.uptime + Self.timeout
                let reply = try result.get()
                guard reply.status == 0 else {
                    throw DeviceError(.failure, "The ring refused \(request.command) (status \(reply.status)).")
                }
                return reply
            case .some(.none): throw DeviceError(.disconnected, "The session is over.")
            case .none: continue
            }
        }
        let error = DeviceError(.timeout, "The ring does not answer.")
        close(error)
        throw error
    }

    /// Takes a value. Returns how many of its bytes were no part of a reply.
    func receive(_ value: [UInt8]) -> Int {
        let before = assembler.passed
        for reply in assembler.append(value) where answer?.fulfil(.success(reply)) != true {
            isOwed = false
            owed.wake()
        }
        return assembler.passed - before
    }

    /// Waits for the second answer to a request that was sent twice, as long as it may come: it would answer the next request.
    private func passOwed() async {
        while isOwed, clock.uptime < owedUntil, end == nil, !Task.isCancelled {
            _ = await clock.withTimeout(owedUntil - clock.uptime) { [owed] in await owed.wait() }
        }
        isOwed = false
    }

    /// Fails what waits and what comes: the link is over.
    func close(_ error: DeviceError) {
        if end == nil { end = error }
        answer?.fulfil(.failure(error))
        owed.wake()
    }

    private func send(_ bytes: [UInt8]) async throws(DeviceError) {
        let kind: GATTWrite = requests.properties.contains(.writeWithoutResponse) ? .withoutResponse : .withResponse
        for start in stride(from: 0, to: bytes.count, by: Self.pieceLength) {
            if start > 0 { try? await clock.sleep(for: Self.pause) }
            let piece = Array(bytes[start..<min(start + Self.pieceLength, bytes.count)])
            do { try await link.write(piece, to: requests, kind) } catch {
                throw DeviceError(error, "The request to the ring")
            }
        }
    }
}
