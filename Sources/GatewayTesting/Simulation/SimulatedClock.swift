/// A clock that stops while any job is ready, and then jumps to the next deadline.
package struct SimulatedClock: Clock {
    /// A moment of a simulation.
    package struct Instant: InstantProtocol {
        /// The simulated time since the start.
        package var uptime: Duration
        /// The moment `duration` later.
        package func advanced(by duration: Duration) -> Instant { Instant(uptime: uptime + duration) }
        /// The time until another moment.
        package func duration(to other: Instant) -> Duration { other.uptime - uptime }
        /// Orders by time.
        package static func < (a: Instant, b: Instant) -> Bool { a.uptime < b.uptime }
    }

    private let executor: SeededExecutor

    /// The clock of an executor.
    package init(_ executor: SeededExecutor) { self.executor = executor }

    /// The current moment.
    package var now: Instant { Instant(uptime: executor.now) }
    /// The resolution of the clock; finer steps of `Duration` have no use here.
    package var minimumResolution: Duration { .nanoseconds(1) }
    /// Sleeps until a moment.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await executor.sleep(until: deadline.uptime)
    }
}
