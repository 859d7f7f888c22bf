import Synchronization

/// A gate that opens once, with a value. Who waits goes on then; who comes later does not wait.
package final class Latch<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [(id: Int, continuation: CheckedContinuation<Value?, Never>)] = []
        var cancelled: Set<Int> = []
        var nextID = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// The value with which it was opened.
    package var value: Value? { state.withLock { $0.value } }

    /// Opens it. Only the first value counts.
    package func open(_ value: Value) {
        let waiters = state.withLock { state in
            guard state.value == nil else { return [(id: Int, continuation: CheckedContinuation<Value?, Never>)]() }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: value) }
    }

    /// Waits until it is open.
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func wait() async throws(CancellationError) -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let value = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Value?? = state.withLock { state in
                    if let value = state.value { return .some(value) }
                    if state.cancelled.remove(id) != nil { return .some(nil) }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    if state.value == nil { state.cancelled.insert(id) }
                    return nil as CheckedContinuation<Value?, Never>?
                }
                return state.waiters.remove(at: index).continuation
            }
            waiter?.resume(returning: nil)
        }
        guard let value else { throw CancellationError() }
        return value
    }
}
