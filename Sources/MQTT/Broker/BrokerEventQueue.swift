import Concurrency
import Synchronization

/// The events of a connection: the network side adds them, one reader takes them in batches.
///
/// Adding an event and waking the reader are two steps, so that all acknowledgements of one network read cost one
/// wake-up. Memory is bounded: the connection's window limits acknowledgements, and half-way to the limit the network is
/// read no further (`isFilling`), which also delays acknowledgements. What arrives above the limit all the same, before
/// there is a reader or in one large read, is dropped and counted.
package final class BrokerEventQueue: Sendable {
    /// Maximum bytes of waiting received messages: thirty commands of maximum length, and a sixth of the gateway's
    /// memory limit.
    package static let maximumWaitingBytes = 8 * 1024 * 1024

    private struct State {
        var events = BrokerEvents()
        var waitingBytes = 0
        var end: BrokerError?
        var hasReader = false

        /// The reader's next result; `nil` if it has to wait.
        mutating func dequeue() -> Result<BrokerEvents, BrokerError>? {
            hasReader = true
            if !events.isEmpty {
                defer {
                    events = BrokerEvents()
                    waitingBytes = 0
                }
                return .success(events)
            }
            return end.map { .failure($0) }
        }
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    private let maximumInbound: Int

    /// A queue that holds up to `maximumInbound` received messages.
    package init(maximumInbound: Int) { self.maximumInbound = maximumInbound }

    /// Adds an acknowledgement; with `refusal` the broker refused the message.
    package func acknowledge(_ token: MessageToken, refusal: BrokerRefusal? = nil) {
        state.withLock { state in
            guard state.end == nil else { return }
            if let refusal {
                state.events.refused.append(RefusedMessage(token: token, reason: refusal))
            } else {
                state.events.acknowledged.append(token)
            }
        }
    }

    /// Adds a received message, or counts it as dropped when too many are waiting. Returns whether it is added.
    @discardableResult
    package func receive(_ message: InboundMessage) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return false }
            let bytes = state.waitingBytes + message.size
            if state.events.received.count < maximumInbound, bytes <= Self.maximumWaitingBytes {
                state.events.received.append(message)
                state.waitingBytes = bytes
                return true
            }
            state.events.droppedCount += 1
            return false
        }
    }

    /// Whether so much waits for the reader that the network should be read no further: half of what is dropped at. Before
    /// there is a reader it is not, as the answers to subscriptions must still be read.
    package var isFilling: Bool {
        state.withLock {
            $0.hasReader
                && ($0.events.received.count > maximumInbound / 2 || $0.waitingBytes > Self.maximumWaitingBytes / 2)
        }
    }

    /// Wakes the reader if there are events: the network thread calls it after each turn, most of which bring none.
    package func wake() { if state.withLock({ !$0.events.isEmpty }) { arrival.wake() } }

    /// Ends the queue. The reader gets the remaining events first. Only the first reason counts.
    package func end(_ error: BrokerError) {
        state.withLock { state in
            if state.end == nil { state.end = error }
        }
        arrival.wake()
    }

    /// The reason of the end; `nil` while the connection lasts.
    package var ending: BrokerError? { state.withLock { $0.end } }

    /// Takes all waiting events; there may be none.
    package func takeAll() -> BrokerEvents {
        state.withLock { state in
            guard case .success(let events) = state.dequeue() else { return BrokerEvents() }
            return events
        }
    }

    /// Waits for events and takes all of them.
    /// - Throws: the reason of the end; `.cancelled` when the task is cancelled, with nothing taken.
    package func next() async throws(BrokerError) -> BrokerEvents {
        while true {
            if Task.isCancelled { throw .cancelled }
            if let result = state.withLock({ $0.dequeue() }) { return try result.get() }
            await arrival.wait()
        }
    }
}
