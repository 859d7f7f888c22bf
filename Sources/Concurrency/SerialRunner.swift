import DequeModule
import Synchronization

/// Runs operations one after the other in one task, in the order of the calls. Cancelling a call ends its wait and not an operation
/// that has begun: a device that takes one request at a time is never left in the middle of one.
package final class SerialRunner: Sendable {
    /// An operation with what its caller waits for.
    private final class Job: Sendable {
        let isDropped = Mutex(false)
        let perform: @Sendable () async -> Void
        let abandon: @Sendable () -> Void

        init(perform: @escaping @Sendable () async -> Void, abandon: @escaping @Sendable () -> Void) {
            self.perform = perform
            self.abandon = abandon
        }
    }

    private struct State {
        var waiting: Deque<Job> = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let work = Signal()

    package init() {}

    /// Runs the operations until the task is cancelled. One task calls it, once; afterwards no operation begins any more.
    package func run() async {
        while !Task.isCancelled {
            let next = state.withLock { $0.waiting.popFirst() }
            guard let next else {
                await work.wait()
                continue
            }
            if next.isDropped.withLock({ $0 }) { next.abandon() } else { await next.perform() }
        }
        let rest = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for job in rest { job.abandon() }
    }

    /// Waits for the operation's turn and its value.
    /// - Returns: `nil` if the calling task is cancelled, or `run` has ended, before the value exists.
    package func perform<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) async -> Value? {
        let outcome = Promise<Value?>()
        let job = Job(perform: { outcome.fulfil(await operation()) }, abandon: { outcome.fulfil(nil) })
        let isTaken = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.waiting.append(job)
            return true
        }
        guard isTaken else { return nil }
        work.wake()
        do { return try await outcome.wait() } catch {
            job.isDropped.withLock { $0 = true }
            return nil
        }
    }
}
