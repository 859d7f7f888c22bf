import Concurrency
import Synchronization
import Testing

/// What seeds and storms cannot make certain: a task that is cancelled, and has not run since.
@Suite struct SignalTests {
    /// Runs jobs only when the test asks for it.
    private final class HeldExecutor: TaskExecutor {
        private let jobs = Mutex<[UnownedJob]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
        }

        func runAll() {
            while true {
                let ready = jobs.withLock { jobs in
                    defer { jobs = [] }
                    return jobs
                }
                if ready.isEmpty { return }
                for job in ready { job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }

    @Test func `a signal that meets only cancelled tasks wakes the next one that waits`() async {
        let signal = Signal()
        let executor = HeldExecutor()
        let woken = Mutex(0)
        let cancelled = Task(executorPreference: executor) { await signal.wait() }
        executor.runAll()
        // It is still among the waiting tasks, since it does not run before the signal.
        cancelled.cancel()
        signal.wake()
        let next = Task(executorPreference: executor) {
            await signal.wait()
            woken.withLock { $0 += 1 }
        }
        executor.runAll()
        #expect(woken.withLock { $0 } == 1)
        next.cancel()
        executor.runAll()
        await cancelled.value
        await next.value
    }
}
