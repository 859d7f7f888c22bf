import Synchronization

/// One task that waits for one value: the only code that touches a continuation, and the base of all other primitives.
///
/// Swift's runtime holds a lock while it runs the cancellation handler of a waiting task, and takes the same lock to
/// resume a task. Code that resumes a task under its own lock, which a cancellation handler also takes, takes both
/// locks in both orders: two threads can wait for each other without end. So the lock here only decides what happened
/// first, and the task is resumed after it. Primitives keep lists of waiters under their own locks, which no
/// cancellation handler takes.
final class Waiter<Value: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }
    private let state = Mutex(State.new)

    /// Waits for the value; `nil` if the task is cancelled first.
    func wait() async -> Value? {
        await withTaskCancellationHandler {
            await park()
        } onCancel: {
            end(with: nil)
        }
    }

    /// Waits for the value even if the task is cancelled.
    func waitUncancelled() async -> Value? { await park() }

    /// Passes the value. Returns whether it was taken: a cancelled task takes none.
    @discardableResult
    func resume(_ value: Value) -> Bool { end(with: value) }

    private func park() async -> Value? {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state -> Value?? in
                if case .over(let value) = state { return .some(value) }
                state = .waiting(continuation)
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }
    }

    @discardableResult
    private func end(with value: Value?) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value?, Never>?) in
            switch state {
            case .over: return (false, nil)
            case .new:
                state = .over(value)
                return (true, nil)
            case .waiting(let continuation):
                state = .over(value)
                return (true, continuation)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }
}
