import Synchronization

/// Runs work as it comes, each in its own task that ends with the work. While there is none, only the task of `run`
/// waits.
package final class TaskLauncher: Sendable {
    /// The work of a task.
    package typealias Work = @Sendable () async -> Void

    private struct State {
        var running = 0
        var isFinishing = false
        var isOver = false
    }
    private let state = Mutex(State())
    /// The work that has not begun. `WorkQueue` launches one piece for each queue, whose own limit counts.
    private let works = Mailbox<Work, Never>(capacity: .max)

    package init() {}

    /// Starts work in its own task. Returns whether it did: after the end it does nothing.
    @discardableResult
    package func launch(_ work: @escaping Work) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isOver { state.running += 1 }
            return !state.isOver
        }
        guard isOpen else { return false }
        let admission = works.offer {
            await work()
            self.ended()
        }
        if admission == .taken { return true }
        ended()
        return false
    }

    /// Starts work in its own task. After the end, it runs here.
    package func perform(_ work: @escaping Work) async { if !launch(work) { await work() } }

    /// Lets `run` return once all work has ended, also what that work starts.
    package func finish() {
        let isOver = state.withLock { state in
            state.isFinishing = true
            if state.running == 0 { state.isOver = true }
            return state.isOver
        }
        if isOver { works.finish() }
    }

    /// Runs the work, until `finish` is called and all of it has ended. If the task is cancelled, so is the work, and
    /// nothing more begins.
    package func run() async {
        await withDiscardingTaskGroup { group in
            await works.forEach { work in group.addTask { await work() } }
        }
    }

    private func ended() {
        let isOver = state.withLock { state in
            state.running -= 1
            if state.isFinishing, state.running == 0 { state.isOver = true }
            return state.isOver
        }
        if isOver { works.finish() }
    }
}
