import Dispatch

/// Runs an actor's jobs in order on its own dispatch queue, so that calls that wait for the disk never block a thread
/// of Swift's shared pool.
package final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor with a queue of this name, which debuggers show.
    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
