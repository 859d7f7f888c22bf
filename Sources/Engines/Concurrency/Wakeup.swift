import Synchronization

/// Wakes one waiting task. Several calls while nobody waits count as one. No second task may wait meanwhile: the first would
/// never be woken.
package final class Wakeup: Sendable {
    private struct State {
        var isDue = false
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    package init() {}

    /// Wakes who waits, or who waits next.
    package func wake() {
        let waiter = state.withLock { state in
            guard let waiter = state.waiter.take() else {
                state.isDue = true
                return nil as CheckedContinuation<Void, Never>?
            }
            return waiter
        }
        waiter?.resume()
    }

    /// Waits until somebody calls `wake`, or has called it since the last wait, or the task is cancelled.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumes = state.withLock { state in
                    if state.isDue || Task.isCancelled {
                        state.isDue = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if resumes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }
}
