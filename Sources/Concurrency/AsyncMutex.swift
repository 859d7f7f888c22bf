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

    /// Runs `body` exclusively. A waiting task cannot be cancelled: the bodies before it are short.
    package func withLock<Result, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        await lock()
        defer { unlock() }
        return try await body()
    }

    private func lock() async {
        let waiter = state.withLock { state -> Waiter<Void>? in
            guard state.isLocked else {
                state.isLocked = true
                return nil
            }
            let waiter = Waiter<Void>()
            state.waiters.append(waiter)
            return waiter
        }
        _ = await waiter?.waitUncancelled()
    }

    private func unlock() {
        let next = state.withLock { state -> Waiter<Void>? in
            let next = state.waiters.popFirst()
            if next == nil { state.isLocked = false }
            return next
        }
        next?.resume(())
    }
}
