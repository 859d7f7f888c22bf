import Synchronization

/// A value that is set once. Waiting tasks then resume; later tasks do not wait.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Waiter<Value>] = []
    }
    private let state = Mutex(State())

    package init() {}

    /// The value; `nil` before it is set.
    package var value: Value? { state.withLock { $0.value } }

    /// Sets the value. Only the first call counts. Returns whether this was the first.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool {
        let waiters = state.withLock { state -> [Waiter<Value>]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(value) }
        return true
    }

    /// Waits for the value.
    /// - Throws: `CancellationError` if the task is cancelled before the value is set.
    package func wait() async throws(CancellationError) -> Value {
        let waiter = Waiter<Value>()
        if let value = enlist(waiter) { return value }
        if let value = await waiter.wait() { return value }
        // The value may have been set at the same moment.
        let value = state.withLock { state in
            state.waiters.removeAll { $0 === waiter }
            return state.value
        }
        guard let value else { throw CancellationError() }
        return value
    }

    /// Waits for the value even if the task is cancelled. The value must be set in any case.
    package func waitUncancelled() async -> Value {
        while true {
            let waiter = Waiter<Value>()
            if let value = enlist(waiter) { return value }
            if let value = await waiter.waitUncancelled() { return value }
        }
    }

    /// Returns the value if it is set, else adds a waiter for it.
    private func enlist(_ waiter: Waiter<Value>) -> Value? {
        state.withLock { state in
            if let value = state.value { return value }
            state.waiters.append(waiter)
            return nil
        }
    }
}
