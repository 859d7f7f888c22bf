/// The gateway's time: the date, and a monotonic clock for sleeping. Simulations use their own.
public struct GatewayClock: Sendable {
    private let date: @Sendable () -> Timestamp
    private let steady: any Clock<Duration>
    private let steadyNow: @Sendable () -> Duration

    /// A clock from functions for the current date and the monotonic time, and a monotonic clock to sleep on.
    public init(
        date: @escaping @Sendable () -> Timestamp, steady: any Clock<Duration>,
        steadyNow: @escaping @Sendable () -> Duration
    ) {
        self.date = date
        self.steady = steady
        self.steadyNow = steadyNow
    }

    /// The current date. It may jump when the machine's clock is set.
    public var now: Timestamp { date() }

    /// Time since a fixed but arbitrary moment. It never jumps and never goes back.
    public var uptime: Duration { steadyNow() }

    /// Returns after `duration`.
    /// - Throws: `CancellationError` if the task is cancelled before that.
    public func sleep(for duration: Duration) async throws { try await steady.sleep(for: duration) }
}
