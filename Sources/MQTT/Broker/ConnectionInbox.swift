import Synchronization

/// What a connection has to tell: put in by the network's side, taken in batches by one reader.
///
/// Putting something in and waking the reader are two steps, so that all acknowledgements of one read from the network
/// cost one wake-up. Memory is bounded: acknowledgements by the window of the connection, received messages by a limit
/// above which they are dropped and counted. Making the network wait instead would also hold up acknowledgements.
package final class ConnectionInbox: Sendable {
    /// Bytes of received messages that may wait: thirty commands of the greatest length, and a sixth of the memory that
    /// the gateway may use.
    package static let maximumWaitingBytes = 8 * 1024 * 1024

    private struct State {
        var events = BrokerEvents()
        var waitingBytes = 0
        var end: BrokerError?
        var reader: CheckedContinuation<Result<BrokerEvents, BrokerError>, Never>?

        /// What the reader would get now; `nil` if it has to wait.
        mutating func take() -> Result<BrokerEvents, BrokerError>? {
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
    private let maximumInbound: Int

    /// An inbox in which `maximumInbound` received messages may wait.
    package init(maximumInbound: Int) { self.maximumInbound = maximumInbound }

    /// Puts an acknowledgement in; `refusal` says that the message was not taken.
    package func acknowledge(_ token: MessageToken, refusal: RefusalReason? = nil) {
        state.withLock { state in
            guard state.end == nil else { return }
            if let refusal {
                state.events.refused.append(RefusedMessage(token: token, reason: refusal))
            } else {
                state.events.acknowledged.append(token)
            }
        }
    }

    /// Puts a received message in, or counts it as dropped when too many are waiting.
    package func receive(_ message: InboundMessage) {
        state.withLock { state in
            guard state.end == nil else { return }
            let bytes = state.waitingBytes + message.size
            if state.events.received.count < maximumInbound, bytes <= Self.maximumWaitingBytes {
                state.events.received.append(message)
                state.waitingBytes = bytes
            } else {
                state.events.droppedCount += 1
            }
        }
    }

    /// Lets the reader have what was put in.
    package func wake() {
        state.withLock { state in
            guard state.reader != nil, let result = state.take() else { return }
            state.reader.take()?.resume(returning: result)
        }
    }

    /// Says that nothing more will come. The reader gets what is there first. Only the first reason counts.
    package func end(_ error: BrokerError) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = error
            guard state.reader != nil, let result = state.take() else { return }
            state.reader.take()?.resume(returning: result)
        }
    }

    /// Why nothing more will come; `nil` while the connection lasts.
    package var ending: BrokerError? { state.withLock { $0.end } }

    /// Waits for events and takes all that are there. A second call meanwhile ends the first one with `.cancelled`.
    /// - Throws: the reason of the end; `.cancelled` when the task is cancelled, with nothing taken.
    package func next() async throws(BrokerError) -> BrokerEvents {
        let result: Result<BrokerEvents, BrokerError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if Task.isCancelled {
                        continuation.resume(returning: .failure(.cancelled))
                    } else if let result = state.take() {
                        continuation.resume(returning: result)
                    } else {
                        // A second reader would never learn what the first one took.
                        state.reader?.resume(returning: .failure(.cancelled))
                        state.reader = continuation
                    }
                }
            }
        } onCancel: {
            state.withLock { state in state.reader.take()?.resume(returning: .failure(BrokerError.cancelled)) }
        }
        return try result.get()
    }
}

extension InboundMessage {
    /// Bytes of everything in it whose length the sender chooses.
    fileprivate var size: Int {
        topic.utf8.count + payload.count + (responseTopic?.utf8.count ?? 0) + (correlationData?.count ?? 0)
    }
}
