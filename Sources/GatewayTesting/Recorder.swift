import Synchronization

/// Collects what happens, so that a test can wait for it instead of for time to pass.
package final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        var id: Int
        var condition: @Sendable ([Element]) -> Bool
        var continuation: CheckedContinuation<Bool, Never>
    }
    private struct State {
        var elements: [Element] = []
        var waiters: [Waiter] = []
        var nextID = 0
    }
    private let state = Mutex(State())

    /// A recorder that has seen nothing.
    package init() {}

    /// What was recorded so far, in order.
    package var elements: [Element] { state.withLock { $0.elements } }

    /// Records `element`, and lets those go on who waited for it.
    package func append(_ element: Element) {
        state.withLock { state in
            state.elements.append(element)
            var waiting: [Waiter] = []
            for waiter in state.waiters {
                if waiter.condition(state.elements) {
                    waiter.continuation.resume(returning: true)
                } else {
                    waiting.append(waiter)
                }
            }
            state.waiters = waiting
        }
    }

    /// Returns what was recorded as soon as it fulfils `condition`.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    @discardableResult
    package func wait(until condition: @escaping @Sendable ([Element]) -> Bool) async throws -> [Element] {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isFulfilled = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if condition(state.elements) {
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
        return elements
    }

    /// As `wait(until:)`, with real programs and real time: at most `limit`.
    /// - Throws: `DeadlinePassed` with what was recorded last.
    @discardableResult
    package func wait(
        within limit: Duration, until condition: @escaping @Sendable ([Element]) -> Bool
    ) async throws -> [Element] {
        try await withDeadline(limit) {
            try await self.wait(until: condition)
        } orThrow: {
            DeadlinePassed(limit: limit, last: self.elements.suffix(20).map { "\($0)" })
        }
    }
}

/// Something that a test waited for did not happen.
package struct DeadlinePassed: Error, CustomStringConvertible {
    /// How long it was waited for.
    package var limit: Duration
    /// What happened last instead.
    package var last: [String]

    /// Says that `limit` passed, and what happened last.
    package init(limit: Duration, last: [String] = []) {
        self.limit = limit
        self.last = last
    }

    /// The text for a person.
    package var description: String {
        "Not within \(limit). The last of what happened:\n" + last.joined(separator: "\n")
    }
}

/// Runs `operation` for at most `limit` of real time.
/// - Throws: what `orThrow` gives when the time is up, else what `operation` throws.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Value,
    orThrow error: @escaping @Sendable () -> any Error
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: limit, clock: .continuous)
            throw error()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
