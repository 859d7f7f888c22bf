import Concurrency
import Dispatch
import Synchronization

/// A place in the code under test that blocks its real thread while a test wants it to.
final class BlockedThread: Sendable {
    private let isClosed = Mutex(false)
    private let semaphore = DispatchSemaphore(value: 0)
    /// Fulfilled when a thread is blocked here.
    let isReached = Promise<Void>()

    /// Blocks the next thread that passes.
    func close() { isClosed.withLock { $0 = true } }

    /// Lets the blocked thread go on.
    func open() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = false }
            return isClosed
        }
        if wasClosed { semaphore.signal() }
    }

    /// Blocks the calling thread if the place is closed.
    func pass() {
        guard isClosed.withLock({ $0 }) else { return }
        isReached.fulfil(())
        semaphore.wait()
    }
}

/// Blocks the thread of an actor's executor.
actor BlockingActor {
    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(on executor: any SerialExecutor) { self.executor = executor }

    func pass(_ place: BlockedThread) { place.pass() }
}
