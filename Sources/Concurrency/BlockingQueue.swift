import Dispatch

/// Runs calls that block, such as reading files, one after the other on their own queue, so that they never hold a
/// thread of Swift's shared pool.
package actor BlockingQueue {
    private let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a queue of this name, which debuggers show.
    package init(label: String) { executor = QueueExecutor(label: label) }

    /// Runs `body` when the calls before it have ended.
    package func run<Value: Sendable>(_ body: @Sendable () throws -> Value) throws -> Value { try body() }
}

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
