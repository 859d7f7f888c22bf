import MQTT
import Synchronization

/// Records every message on the topics of a filter, from the moment that it was made.
package final class BrokerObservation: Sendable {
    private struct Waiter {
        var id: Int
        var condition: @Sendable ([PublishedMessage]) -> Bool
        var continuation: CheckedContinuation<Bool, Never>
    }
    private struct State {
        var messages: [PublishedMessage] = []
        var waiters: [Waiter] = []
        var nextID = 0
    }
    private let state = Mutex(State())
    private let filter: TopicFilter

    init(filter: TopicFilter) { self.filter = filter }

    /// What was published so far, in order.
    package var messages: [PublishedMessage] { state.withLock { $0.messages } }

    /// Returns what was published as soon as it fulfils `condition`.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    @discardableResult
    package func wait(
        until condition: @escaping @Sendable ([PublishedMessage]) -> Bool
    ) async throws -> [PublishedMessage] {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isFulfilled = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if condition(state.messages) {
                        continuation.resume(returning: true)
                    } else if Task.isCancelled {
                        continuation.resume(returning: false)
                    } else {
                        state.waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return }
                state.waiters.remove(at: index).continuation.resume(returning: false)
            }
        }
        guard isFulfilled else { throw CancellationError() }
        return messages
    }

    func record(_ message: PublishedMessage) {
        guard filter.matches(message.message.topic) else { return }
        state.withLock { state in
            state.messages.append(message)
            let (fulfilled, waiting) = (
                state.waiters.filter { $0.condition(state.messages) },
                state.waiters.filter { !$0.condition(state.messages) }
            )
            state.waiters = waiting
            for waiter in fulfilled { waiter.continuation.resume(returning: true) }
        }
    }
}
