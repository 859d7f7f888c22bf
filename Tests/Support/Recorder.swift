import Concurrency
import Synchronization

/// Records events, so that a test can wait for an event instead of a time.
package final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable ([Element]) -> Bool
        let isFulfilled = Promise<Void>()
    }
    private struct State {
        var elements: [Element] = []
        var waiters: [Waiter] = []
    }
    private let state = Mutex(State())

    /// Creates an empty recorder.
    package init() {}

    /// What was recorded so far, in order.
    package var elements: [Element] { state.withLock { $0.elements } }

    /// Records `element`, and wakes the waiters whose condition it fulfils.
    package func append(_ element: Element) {
        let (elements, waiters) = state.withLock { state in
            state.elements.append(element)
            return (state.elements, state.waiters)
        }
        let fulfilled = waiters.filter { $0.condition(elements) }
        guard !fulfilled.isEmpty else { return }
        for waiter in fulfilled { waiter.isFulfilled.fulfil(()) }
        remove { waiter in fulfilled.contains { $0.isFulfilled === waiter.isFulfilled } }
    }

    /// Returns the elements as soon as they fulfil `condition`.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    @discardableResult
    package func wait(until condition: @escaping @Sendable ([Element]) -> Bool) async throws -> [Element] {
        let waiter = Waiter(condition: condition)
        let elements = state.withLock { state in
            state.waiters.append(waiter)
            return state.elements
        }
        defer { remove { $0.isFulfilled === waiter.isFulfilled } }
        if condition(elements) { return elements }
        try await waiter.isFulfilled.wait()
        return self.elements
    }

    /// Returns the first element from the position `start` on that fulfils `condition`, as soon as it is there. It does not check again
    /// what it has seen, however many come.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    package func first(
        from start: Int = 0, where condition: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element {
        let search = RecorderSearch(from: start, where: condition)
        try await wait { search.hasFound(in: $0) }
        guard let found = search.found else { throw CancellationError() }
        return found
    }

    private func remove(_ isGone: (Waiter) -> Bool) { state.withLock { $0.waiters.removeAll(where: isGone) } }

    /// Like `wait(until:)`, but limited to `limit` of real time, for real programs.
    /// - Throws: `DeadlinePassed` with the last elements.
    @discardableResult
    package func wait(
        within limit: Duration, until condition: @escaping @Sendable ([Element]) -> Bool
    ) async throws -> [Element] {
        try await withRealDeadline(limit) {
            try await self.wait(until: condition)
        } orThrow: {
            DeadlinePassed(limit: limit, last: self.elements.suffix(20).map { "\($0)" })
        }
    }
}

/// An event that a test waited for did not happen in time.
package struct DeadlinePassed: Error, CustomStringConvertible {
    /// The time limit.
    package var limit: Duration
    /// The last events before the limit.
    package var last: [String]

    /// Creates an error with the limit and the last events.
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
/// - Throws: the error from `orThrow` when the time is up, else the error of `operation`.
package func withRealDeadline<Value: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Value,
    orThrow error: @escaping @Sendable () -> any Error
) async throws -> Value {
    let sleep: @Sendable () async throws -> Void = { try await Task.sleep(for: limit, clock: .continuous) }
    let outcome = await race(against: sleep) { () async -> Result<Value, any Error> in
        do { return .success(try await operation()) } catch { return .failure(error) }
    }
    guard let outcome else { throw error() }
    return try outcome.get()
}
