import Synchronization

/// Shows whether a part that works in turns still takes its turns: an observer asks, and the part answers at its next
/// turn, or at once while it has nothing to do.
package final class TurnProbe: Sendable {
    private struct State {
        var isBusy = false
        var waiting: [Promise<Void>] = []

        mutating func takeWaiting() -> [Promise<Void>] {
            defer { waiting = [] }
            return waiting
        }
    }
    private let state = Mutex(State())

    package init() {}

    /// The part begins to work.
    package func begin() { state.withLock { $0.isBusy = true } }

    /// The part works, and takes one more turn.
    package func turn() {
        for promise in state.withLock({ $0.takeWaiting() }) { promise.fulfil(()) }
    }

    /// The part has nothing to do.
    package func end() {
        let waiting = state.withLock { state in
            state.isBusy = false
            return state.takeWaiting()
        }
        for promise in waiting { promise.fulfil(()) }
    }

    /// Returns at the part's next turn, at once if it has nothing to do, or when the task is cancelled.
    /// - Parameter hasWork: whether there is something to do although the part may not know: then it must take a turn.
    package func answer(whileIdle hasWork: Bool = false) async {
        let promise = state.withLock { state -> Promise<Void>? in
            guard state.isBusy || hasWork else { return nil }
            let promise = Promise<Void>()
            state.waiting.append(promise)
            return promise
        }
        try? await promise?.wait()
    }
}

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
