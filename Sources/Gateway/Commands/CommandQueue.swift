import Concurrency
import DequeModule
import MQTT
import Synchronization

/// Messages from the broker on their way to the commands, with limits: what comes faster than it is taken is set apart,
/// to be answered as `busy`, and beyond that the broker waits. Nothing that was added is lost, since the broker has an
/// acknowledgement for it and will not send it again.
///
/// The task that receives from the broker only adds to it. Otherwise acknowledgements would wait behind commands.
final class CommandQueue: Sendable {
    /// Maximum messages that wait to run: a burst of commands for every device of a large gateway.
    static let maximumWaiting = 1_024
    /// Maximum bytes of them.
    static let maximumWaitingBytes = 8 << 20
    /// Maximum messages that wait for the answer `busy`, without their payload beyond `keptPayload`.
    static let maximumExcess = 16_384
    /// Maximum bytes of them.
    static let maximumExcessBytes = 8 << 20
    /// Bytes of the payload of such a message that are read for its `id`.
    static let keptPayload = 4_096
    /// Answers of `busy` that share a commit.
    static let excessAtOnce = 256

    private struct Queue {
        var messages: Deque<InboundMessage> = []
        var bytes = 0

        mutating func add(_ message: InboundMessage) {
            messages.append(message)
            bytes += message.size
        }

        mutating func popFirst() -> InboundMessage? {
            guard let message = messages.popFirst() else { return nil }
            bytes -= message.size
            return message
        }
    }

    private struct State {
        var waiting = Queue()
        var excess = Queue()
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    private let excessArrival = Signal()
    private let room = Signal()
    /// The turns of the two tasks that take messages: one begins commands, the other refuses those in excess.
    let running = TurnProbe()
    let refusing = TurnProbe()

    /// Returns when both tasks have taken a turn, or have nothing to do.
    func answer() async {
        await running.answer()
        await refusing.answer()
    }

    /// Adds a message, of which it keeps what a command may have. Waits while there is room in neither queue. If the task is
    /// cancelled, the message is added above the limits: what one connection still held is little, and `waitForRoom` comes
    /// before the next connection.
    func add(_ message: InboundMessage) async {
        let message = message.cut(to: BrokerOptions.defaultMaximumInboundPayload)
        while !tryAdd(message, isForced: Task.isCancelled) { await room.wait() }
    }

    /// Waits until both queues are within their limits, or the task is cancelled.
    func waitForRoom() async {
        while !Task.isCancelled, !hasRoom { await room.wait() }
    }

    private var hasRoom: Bool {
        state.withLock { state in
            state.excess.messages.count < Self.maximumExcess && state.excess.bytes < Self.maximumExcessBytes
        }
    }

    /// Takes everything that waits, the oldest first.
    func takeAll() -> [InboundMessage] {
        state.withLock { state in
            defer { state = State() }
            return Array(state.waiting.messages) + Array(state.excess.messages)
        }
    }

    private func tryAdd(_ message: InboundMessage, isForced: Bool) -> Bool {
        let (isTaken, isExcess) = state.withLock { state -> (Bool, Bool) in
            if state.waiting.messages.count < Self.maximumWaiting,
                state.waiting.bytes + message.size <= Self.maximumWaitingBytes
            {
                state.waiting.add(message)
                return (true, false)
            }
            var message = message
            if message.payload.count > Self.keptPayload { message.payload = [] }
            let hasRoom =
                state.excess.messages.count < Self.maximumExcess
                && state.excess.bytes + message.size <= Self.maximumExcessBytes
            guard hasRoom || isForced else { return (false, true) }
            state.excess.add(message)
            return (true, true)
        }
        if isTaken {
            (isExcess ? refusing : running).begin()
            (isExcess ? excessArrival : arrival).wake()
        }
        return isTaken
    }

    /// Hands each message to `run` in order, and messages in excess to `refuse`, many at once, until the task is
    /// cancelled.
    func serve(
        run: @escaping @Sendable (InboundMessage) async -> Void,
        refuse: @escaping @Sendable (InboundMessage) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                let turns = self.running
                defer { turns.end() }
                while !Task.isCancelled {
                    guard let message = self.state.withLock({ $0.waiting.popFirst() }) else {
                        turns.end()
                        await self.arrival.wait()
                        continue
                    }
                    turns.begin()
                    turns.turn()
                    await run(message)
                    self.room.wake()
                }
            }
            group.addTask {
                let turns = self.refusing
                defer { turns.end() }
                while !Task.isCancelled {
                    let batch = self.state.withLock { state in
                        (0..<Self.excessAtOnce).compactMap { _ in state.excess.popFirst() }
                    }
                    guard !batch.isEmpty else {
                        turns.end()
                        await self.excessArrival.wait()
                        continue
                    }
                    turns.begin()
                    turns.turn()
                    await Self.answer(batch, by: refuse)
                    self.room.wake()
                }
            }
        }
    }

    /// Answers what still waits when commands are served no more: many at once, so that answers share a commit.
    func end(refuse: @escaping @Sendable (InboundMessage) async -> Void) async {
        var rest = takeAll()[...]
        while !rest.isEmpty {
            await Self.answer(Array(rest.prefix(Self.excessAtOnce)), by: refuse)
            rest = rest.dropFirst(Self.excessAtOnce)
        }
    }

    private static func answer(
        _ batch: [InboundMessage], by refuse: @escaping @Sendable (InboundMessage) async -> Void
    ) async {
        await withDiscardingTaskGroup { answers in
            for message in batch { answers.addTask { await refuse(message) } }
        }
    }
}
