import Concurrency
public import Vitals

/// Collects the parts of the reply to one request.
public protocol ReplyCollector<Part>: Sendable {
    /// What arrives: a packet, a message.
    associatedtype Part: Sendable
    /// Takes what arrives, also what does not belong to the reply.
    mutating func collect(_ part: Part) -> ReplyProgress
}

/// How a part advances the reply to a request.
public enum ReplyProgress: Sendable, Hashable {
    /// It is no part of the reply, or one that came before.
    case unrelated
    /// More parts must come.
    case more
    /// The reply is whole.
    case done
    /// The device refuses the request.
    case refused(DeviceError)
}

/// Asks a device one thing after the other, and collects its replies. A request that is not answered is repeated.
///
/// One task of the session runs it (`run`), and another one hands it what arrives (`receive`). Cancelling a call ends its wait and not a
/// request that was sent: no device is left in the middle of one.
public actor RequestQueue<Part: Sendable> {
    private let name: String
    private let clock: GatewayClock
    private let timeout: Duration
    private let attempts: Int
    private let identifiesReplies: Bool
    private let runner = SerialRunner()
    private var reply: (any ReplyCollector<Part>)?
    private var answer: Promise<Result<Void, DeviceError>>?
    /// Parts of replies so far.
    private var arrivals = 0
    /// Whether a second reply may come, since a request was sent twice, and until when.
    private var isOwed = false
    private var owedUntil: Duration = .zero
    private let owed = Signal()
    private var end: DeviceError?

    /// A queue of requests to one device.
    /// - Parameters:
    ///   - name: what messages call the device, such as `ring`.
    ///   - timeout: the pause without a part of the reply after which the request is repeated, or has failed; above zero.
    ///   - attempts: how often a request is sent at most, 1 or more.
    ///   - identifiesReplies: whether a reply says which request it answers. If not, a late one would answer the next request: after a
    ///     request that was repeated the other reply is awaited for one more `timeout`, and one that is never answered ends the queue.
    public init(
        to name: String, clock: GatewayClock, timeout: Duration, attempts: Int, identifiesReplies: Bool = true
    ) {
        self.name = name
        self.clock = clock
        self.timeout = timeout
        self.attempts = attempts
        self.identifiesReplies = identifiesReplies
    }

    /// Sends the requests until the task is cancelled. Afterwards none is sent any more.
    public nonisolated func run() async { await runner.run() }

    /// Why nothing can be asked any more; `nil` while the queue is open.
    public var failure: DeviceError? { end }

    /// Runs a sequence of exchanges without others between them.
    /// - Throws: what `operation` throws; the error of `close`, else `disconnected`, if the task is cancelled or `run` has ended before.
    public nonisolated func perform<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws(DeviceError) -> Value
    ) async throws(DeviceError) -> Value {
        let result = await runner.perform { () -> Result<Value, DeviceError> in
            do throws(DeviceError) { return .success(try await operation()) } catch { return .failure(error) }
        }
        guard let result else {
            throw await failure ?? DeviceError(.disconnected, "The gateway no longer waits for the \(name).")
        }
        return try result.get()
    }

    /// Waits for the request's turn, sends it, and waits until its reply is whole: `exchange` as the only one of its sequence.
    public nonisolated func ask<Reply: ReplyCollector<Part>>(
        for reply: Reply, timeout: Duration? = nil, attempts: Int? = nil,
        _ send: @escaping @Sendable () async throws(DeviceError) -> Void
    ) async throws(DeviceError) -> Reply {
        try await perform { () async throws(DeviceError) in
            try await self.exchange(for: reply, timeout: timeout, attempts: attempts, send)
        }
    }

    /// Sends a request, and waits until its reply is whole. Call it within `perform`: one exchange runs at a time.
    /// - Parameters:
    ///   - reply: the empty reply. Each attempt begins with it: what the device has may have changed since the one before.
    ///   - timeout: the timeout if it differs from that of the queue.
    ///   - attempts: the number of attempts if it differs from that of the queue.
    ///   - send: writes the request. Each attempt calls it, so it can build the request anew.
    /// - Throws: what `send` throws, and a refusal; `timeout` if no part of a reply came, `failure` if only some did; the error of `close`.
    public func exchange<Reply: ReplyCollector<Part>>(
        for reply: Reply, timeout: Duration? = nil, attempts: Int? = nil,
        _ send: @Sendable () async throws(DeviceError) -> Void
    ) async throws(DeviceError) -> Reply {
        await passOwed()
        let before = arrivals
        for number in 0..<(attempts ?? self.attempts) {
            isOwed = number > 0 && !identifiesReplies
            if let whole = try await attempt(for: reply, timeout: timeout ?? self.timeout, send) { return whole }
        }
        if arrivals > before, identifiesReplies {
            throw DeviceError(.failure, "A part of the \(name)'s answer was lost.")
        }
        let error = DeviceError(.timeout, "The \(name) does not answer.")
        if !identifiesReplies { close(error) }
        throw error
    }

    /// Sends a request once, and waits while parts of its reply come. `exchange` is the usual call; this one is for a driver that has its
    /// own turns, or its own way out of silence.
    /// - Returns: the reply; `nil` if no part came for the timeout before it was whole.
    /// - Throws: what `send` throws, and a refusal; the error of `close`.
    public func attempt<Reply: ReplyCollector<Part>>(
        for reply: Reply, timeout: Duration, _ send: @Sendable () async throws(DeviceError) -> Void
    ) async throws(DeviceError) -> Reply? {
        if let end { throw end }
        let answer = Promise<Result<Void, DeviceError>>()
        self.reply = reply
        self.answer = answer
        defer { (self.reply, self.answer) = (nil, nil) }
        try await send()
        while true {
            let before = arrivals
            let result = await clock.withTimeout(timeout) { try? await answer.wait() }
            switch result {
            case .some(.some(let result)):
                owedUntil = clock.uptime + timeout
                try result.get()
                return self.reply as? Reply
            case .some(.none): throw DeviceError(.disconnected, "The session is over.")
            case .none where arrivals > before: continue
            case .none: return nil
            }
        }
    }

    /// Takes what has arrived.
    /// - Returns: whether it belongs to the running request.
    @discardableResult
    public func receive(_ part: Part) -> Bool {
        guard var collector = reply, let answer, answer.value == nil else {
            isOwed = false
            owed.wake()
            return false
        }
        // So that the collector alone has what it collected, and does not copy it.
        reply = nil
        let progress = collector.collect(part)
        reply = collector
        switch progress {
        case .unrelated: return false
        case .more: arrivals += 1
        case .done:
            arrivals += 1
            answer.fulfil(.success(()))
        case .refused(let error): answer.fulfil(.failure(error))
        }
        return true
    }

    /// Fails what waits and what comes: the link is over. Only the first error counts.
    public func close(_ error: DeviceError) {
        if end == nil { end = error }
        answer?.fulfil(.failure(error))
        owed.wake()
    }

    /// Waits for the second reply to a request that was sent twice, as long as it may come.
    private func passOwed() async {
        while isOwed, clock.uptime < owedUntil, end == nil, !Task.isCancelled {
            _ = await clock.withTimeout(owedUntil - clock.uptime) { [owed] in await owed.wait() }
        }
        isOwed = false
    }
}
