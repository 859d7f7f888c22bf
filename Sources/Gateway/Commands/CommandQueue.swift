import Concurrency
import Contract
import DequeModule
import MQTT
import Synchronization
import Vitals

/// Messages from the broker on their way to the commands, with limits: what comes faster than it is taken is set apart,
/// to be answered as `busy`, and beyond that the broker waits. Nothing that was added is lost, since the broker has an
/// acknowledgement for it and will not send it again. Devices share the room of what waits to run (see `FairShares`), so that a flood
/// to one of them leaves places for commands to the others.
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
        let maximum: Int
        let maximumBytes: Int
        /// With the device or the gateway that it is a command of; `nil` for other messages.
        var messages: Deque<(message: InboundMessage, owner: String?)> = []
        var count = FairShares()
        var bytes = FairShares()

        var isFull: Bool { count.used >= maximum || bytes.used >= maximumBytes }

        func hasRoom(for message: InboundMessage, of owner: String?) -> Bool {
            count.fits(1, of: owner, in: maximum) && bytes.fits(message.size, of: owner, in: maximumBytes)
        }

        mutating func add(_ message: InboundMessage, of owner: String?) {
            messages.append((message: message, owner: owner))
            count.add(1, of: owner)
            bytes.add(message.size, of: owner)
        }

        mutating func popFirst() -> InboundMessage? {
            guard let (message, owner) = messages.popFirst() else { return nil }
            count.remove(1, of: owner)
            bytes.remove(message.size, of: owner)
            return message
        }
    }

    private struct State {
        var waiting = Queue(maximum: CommandQueue.maximumWaiting, maximumBytes: CommandQueue.maximumWaitingBytes)
        /// Nobody has a share of it: who fills it holds up the others, but takes no answer from them.
        var excess = Queue(maximum: CommandQueue.maximumExcess, maximumBytes: CommandQueue.maximumExcessBytes)
    }
    private let topics: ContractTopics
    private let state = Mutex(State())
    private let arrival = Signal()
    private let excessArrival = Signal()
    private let room = Signal()
    /// The turns of the two tasks that take messages: one begins commands, the other refuses those in excess.
    let running = TurnProbe()
    let refusing = TurnProbe()

    /// - Parameter topics: tell whose command a message is.
    init(topics: ContractTopics) { self.topics = topics }

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

    private var hasRoom: Bool { state.withLock { !$0.excess.isFull } }

    /// Takes everything that waits, the oldest first.
    func takeAll() -> [InboundMessage] {
        state.withLock { state in
            defer { state = State() }
            return (state.waiting.messages + state.excess.messages).map { $0.message }
        }
    }

    private func tryAdd(_ message: InboundMessage, isForced: Bool) -> Bool {
        let owner = topics.inbound(message.topic)?.scope
        let (isTaken, isExcess) = state.withLock { state -> (Bool, Bool) in
            if state.waiting.hasRoom(for: message, of: owner) {
                state.waiting.add(message, of: owner)
                return (true, false)
            }
            var message = message
            if message.payload.count > Self.keptPayload { message.payload = [] }
            guard isForced || state.excess.hasRoom(for: message, of: nil) else { return (false, true) }
            state.excess.add(message, of: nil)
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
