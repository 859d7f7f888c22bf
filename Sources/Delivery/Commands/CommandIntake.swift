import Concurrency
import DequeModule
import MQTT
import Synchronization

/// Messages from the broker on their way to the commands, with limits: what comes faster than it is taken is set apart,
/// to be answered as `busy`, and beyond that the broker waits.
///
/// The task that hears the broker only adds to it. Otherwise acknowledgements would wait behind commands.
final class CommandIntake: Sendable {
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

    private struct Line {
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
        var waiting = Line()
        var excess = Line()
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    private let excessArrival = Signal()
    private let room = Signal()

    init() {}

    /// Adds a message. Waits while there is room in neither line.
    func add(_ message: InboundMessage) async {
        while !Task.isCancelled, !tryAdd(message) { await room.wait() }
    }

    private func tryAdd(_ message: InboundMessage) -> Bool {
        let (isTaken, isExcess) = state.withLock { state -> (Bool, Bool) in
            if state.waiting.messages.count < Self.maximumWaiting,
                state.waiting.bytes + message.size <= Self.maximumWaitingBytes
            {
                state.waiting.add(message)
                return (true, false)
            }
            var message = message
            if message.payload.count > Self.keptPayload { message.payload = [] }
            guard state.excess.messages.count < Self.maximumExcess,
                state.excess.bytes + message.size <= Self.maximumExcessBytes
            else { return (false, true) }
            state.excess.add(message)
            return (true, true)
        }
        if isTaken { (isExcess ? excessArrival : arrival).wake() }
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
                while !Task.isCancelled {
                    guard let message = self.state.withLock({ $0.waiting.popFirst() }) else {
                        await self.arrival.wait()
                        continue
                    }
                    await run(message)
                    self.room.wake()
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    let batch = self.state.withLock { state in
                        (0..<Self.excessAtOnce).compactMap { _ in state.excess.popFirst() }
                    }
                    guard !batch.isEmpty else {
                        await self.excessArrival.wait()
                        continue
                    }
                    await withDiscardingTaskGroup { answers in
                        for message in batch { answers.addTask { await refuse(message) } }
                    }
                    self.room.wake()
                }
            }
        }
    }
}
