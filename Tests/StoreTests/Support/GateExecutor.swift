import Dispatch
import Synchronization

/// Holds an actor's jobs back until a number of them wait, then runs them in order, and all later ones at once.
final class GateExecutor: SerialExecutor {
    private struct State {
        var held: [UnownedJob] = []
        var isOpen = false
    }
    private let state = Mutex(State())
    private let threshold: Int
    private let queue = DispatchQueue(label: "gate")

    init(opensAt threshold: Int) { self.threshold = threshold }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let ready = state.withLock { state -> [UnownedJob] in
            state.held.append(job)
            if state.held.count >= threshold { state.isOpen = true }
            guard state.isOpen else { return [] }
            defer { state.held = [] }
            return state.held
        }
        for job in ready { queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
    }
}
