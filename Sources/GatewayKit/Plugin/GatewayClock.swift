public import Vitals

/// The time as the gateway sees it: the date, and a steady clock to sleep on. Simulations pass their own.
public struct GatewayClock: Sendable {
    private let date: @Sendable () -> Timestamp
    private let steady: any Clock<Duration>
    private let steadyNow: @Sendable () -> Duration

    /// A clock from the current date, a steady clock, and the time on it since any fixed moment.
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

    /// Time passed since a fixed but arbitrary moment. It never jumps and never goes back.
    public var uptime: Duration { steadyNow() }

    /// Returns after `duration`.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    public func sleep(for duration: Duration) async throws { try await steady.sleep(for: duration) }
}
