import Synchronization

/// Shows whether a part that names the time of its next step still takes its steps: an observer asks, and the part answers at
/// once until that time, and with its next step after it.
package final class StepProbe: Sendable {
    private struct State {
        var due: Duration?
        var waiting: [Promise<Void>] = []
    }
    private let state = Mutex(State())

    package init() {}

    /// The part takes a step, and has to take the next one by `time`, of a clock that never goes back.
    /// - Parameter time: `nil` if nothing is due until something else happens.
    package func step(nextBy time: Duration?) {
        let waiting = state.withLock { state in
            defer { (state.due, state.waiting) = (time, []) }
            return state.waiting
        }
        for promise in waiting { promise.fulfil(()) }
    }

    /// Returns at once if no step is due, with the next step if one is, or when the task is cancelled.
    package func answer(at now: Duration) async {
        let promise = state.withLock { state -> Promise<Void>? in
            guard let due = state.due, due < now else { return nil }
            let promise = Promise<Void>()
            state.waiting.append(promise)
            return promise
        }
        try? await promise?.wait()
    }
}
