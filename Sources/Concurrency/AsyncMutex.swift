import DequeModule
import Synchronization

/// A mutex for tasks: one at a time, in order of arrival, even if they suspend inside.
package final class AsyncMutex: Sendable {
    private struct State {
        var isLocked = false
        /// In order of arrival.
        var waiters: Deque<Waiter<Void>> = []
    }
    private let state = Mutex(State())

    package init() {}

    /// Runs `body` exclusively. A waiting task cannot be cancelled: each body before it is short, or is cancelled together with
    /// the waiting task.
    package func withLock<Result, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        await lock()
        defer { unlock() }
        return try await body()
    }

    /// As `withLock`, for bodies that may be long: a waiting task can be cancelled.
    /// - Throws: what `body` throws; `CancellationError` if the task is cancelled before its turn.
    package func withCancellableLock<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        if let waiter = enter(), await waiter.wait() == nil {
            state.withLock { state in state.waiters.removeAll { $0 === waiter } }
            throw CancellationError()
        }
        defer { unlock() }
        return try await body()
    }

    /// Runs `body` if the mutex is free; returns `nil` at once otherwise.
    package func withLockIfFree<Result, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result? {
        let isFree = state.withLock { state in
            defer { state.isLocked = true }
            return !state.isLocked
        }
        guard isFree else { return nil }
        defer { unlock() }
        return try await body()
    }

    private func lock() async { _ = await enter()?.waitUncancelled() }

    /// Takes the lock, or a place among the waiters.
    private func enter() -> Waiter<Void>? {
        state.withLock { state -> Waiter<Void>? in
            guard state.isLocked else {
                state.isLocked = true
                return nil
            }
            let waiter = Waiter<Void>()
            state.waiters.append(waiter)
            return waiter
        }
    }

    private func unlock() {
        while true {
            let next = state.withLock { state -> Waiter<Void>? in
                let next = state.waiters.popFirst()
                if next == nil { state.isLocked = false }
                return next
            }
            // One that was cancelled takes no turn.
            guard let next, !next.resume(()) else { return }
        }
    }
}
