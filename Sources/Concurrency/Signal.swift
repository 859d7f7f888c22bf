import Synchronization

/// Wakes the tasks that wait for a change. Several calls while no task waits count as one.
///
/// A woken task checks its condition and waits again if it does not hold: all waiting tasks are woken, and another one
/// may have been first. A call that no task waits for is kept for one task only. So tasks that check a condition and
/// then wait, on the same signal, must take turns: the other one could miss the call.
package final class Signal: Sendable {
    private struct State {
        var isDue = false
        var waiters: [Waiter<Void>] = []
    }
    private let state = Mutex(State())

    package init() {}

    /// Wakes all waiting tasks, or, if there are none, the next one that waits.
    package func wake() {
        while true {
            let waiters = state.withLock { state -> [Waiter<Void>] in
                defer { state.waiters = [] }
                if state.waiters.isEmpty { state.isDue = true }
                return state.waiters
            }
            if waiters.isEmpty { return }
            var isTaken = false
            for waiter in waiters where waiter.resume(()) { isTaken = true }
            // All of them were cancelled just now: wake the next one that waits instead.
            if isTaken { return }
        }
    }

    /// Waits until `wake` is called, was called since the last wait, or the task is cancelled.
    package func wait() async {
        let waiter = state.withLock { state -> Waiter<Void>? in
            if state.isDue {
                state.isDue = false
                return nil
            }
            let waiter = Waiter<Void>()
            state.waiters.append(waiter)
            return waiter
        }
        guard let waiter, await waiter.wait() == nil else { return }
        state.withLock { state in state.waiters.removeAll { $0 === waiter } }
    }
}
