import GatewayKit
import Synchronization
public import Vitals

/// A simulation in which a seed decides everything that is otherwise left to chance: the order of all jobs and,
/// through `random`, a test's faults. The same seed replays the same run.
///
/// Code in it must use structured tasks, default actors (or actors with `executor.serialExecutor()`) and
/// `gatewayClock`, and must not depend on the order of a `Set` or `Dictionary`.
public final class Simulation: Sendable {
    /// The most jobs in one instant before a run counts as an endless loop: a thousand devices with ten thousand jobs
    /// each.
    package static let maximumJobsPerInstant = 10_000_000
    /// The default start of simulations: 2026-01-01T00:00:00Z.
    public static let defaultStart = Timestamp(seconds: 1_767_225_600)

    /// The seed.
    package let seed: UInt64
    /// Runs every job of the simulation.
    package let executor: SeededExecutor
    /// The steady clock.
    package let clock: SimulatedClock
    private let start: Timestamp
    private let jump = Mutex(Duration.zero)
    private let generator: Mutex<SplitMix64>

    /// Creates a simulation with a seed and a start date.
    package init(seed: UInt64, start: Timestamp = defaultStart) {
        self.seed = seed
        self.start = start
        executor = SeededExecutor(seed: seed)
        clock = SimulatedClock(executor)
        // Faults have their own random numbers, so that an additional job does not change all of them.
        generator = Mutex(SplitMix64(seed: ~seed))
    }

    /// The simulated time since the start. It never jumps.
    package var uptime: Duration { executor.now }
    /// The date on the simulated machine's clock.
    public var date: Timestamp { trueDate + jump.withLock { $0 } }
    /// The true simulated date. The machine's clock may show another one.
    package var trueDate: Timestamp { start + executor.now }
    /// Moves the machine's clock forward, or back if `duration` is negative.
    package func jumpDate(by duration: Duration) { jump.withLock { $0 += duration } }
    /// Sets the machine's clock right.
    package func correctDate() { jump.withLock { $0 = .zero } }
    /// A hash of all scheduling choices: equal for two runs with the same seed.
    package var fingerprint: UInt64 { executor.fingerprint }
    /// A generator for faults. Each call returns a new one; the seed decides their sequence.
    package func random() -> SplitMix64 { generator.withLock { $0.split() } }

    /// The clocks for a gateway.
    public var gatewayClock: GatewayClock {
        GatewayClock(date: { self.date }, steady: clock, steadyNow: { self.uptime })
    }

    /// The clocks of another party, whose date is always right.
    package var trueClock: GatewayClock {
        GatewayClock(date: { self.trueDate }, steady: clock, steadyNow: { self.uptime })
    }

    /// Runs `body` to its end in a new simulation. It takes little real time: simulated time advances only when no job is
    /// ready.
    /// - Parameters:
    ///   - seed: decides the order of all jobs. The same seed replays the same run.
    ///   - start: the start date.
    ///   - deadline: the limit of simulated time.
    /// - Throws: what `body` throws, or an error that says why `body` does not end.
    public static func run<Result: Sendable>(
        seed: UInt64, start: Timestamp = defaultStart, deadline: Duration,
        _ body: @escaping @Sendable (Simulation) async throws -> Result
    ) throws -> Result {
        try Simulation(seed: seed, start: start).run(deadline: deadline, body)
    }

    /// Runs `body` and everything that it waits for to their end.
    /// - Parameter deadline: the limit of simulated time.
    /// - Throws: what `body` throws, or a `SimulationError`; then `body` is cancelled and gets time to end.
    package func run<Result: Sendable>(
        deadline: Duration, _ body: @escaping @Sendable (Simulation) async throws -> Result
    ) throws -> Result {
        let outcome = Outcome<Result>()
        let limit = uptime + deadline
        // The root of the simulated tasks. It is unstructured because this function is not a task of the simulation.
        // When this function returns, the root has ended, or is cancelled and stuck.
        let root = Task(executorPreference: executor) {
            do { outcome.set(.success(try await body(self))) } catch { outcome.set(.failure(error)) }
        }
        guard let failure = run(until: limit, isDone: { outcome.value != nil }) else {
            guard let result = outcome.value else { throw SimulationError(.deadlock, in: self) }
            return try result.get()
        }
        let error = SimulationError(failure, in: self)
        root.cancel()
        _ = run(until: limit + Self.farewell, isDone: { outcome.value != nil })
        throw error
    }

    /// The simulated time for a cancelled body to end, so that it releases files and threads.
    private static let farewell: Duration = .minutes(10)

    /// Runs jobs, and advances the time when there are none, until `isDone` and no job is ready. Returns an error code
    /// if that fails.
    private func run(until limit: Duration, isDone: () -> Bool) -> SimulationError.Code? {
        var jobs = 0
        while true {
            if executor.runOne() {
                jobs += 1
                if jobs > Self.maximumJobsPerInstant { return .livelock }
                continue
            }
            if isDone() { return nil }
            jobs = 0
            switch executor.advance(limit: limit) {
            case .advanced: continue
            case .limitReached: return .deadline
            case .nobodySleeps: return .deadlock
            }
        }
    }
}

/// How the body of a simulation ended.
private final class Outcome<Success: Sendable>: Sendable {
    private let result = Mutex<Result<Success, any Error>?>(nil)
    var value: Result<Success, any Error>? { result.withLock { $0 } }
    func set(_ value: Result<Success, any Error>) { result.withLock { $0 = value } }
}

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

/// Why a simulation did not end. Its text names the seed, which replays the run.
package struct SimulationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    package enum Code: Sendable, Hashable {
        /// Every task waits and none sleeps: they wait for each other, or for something outside the simulation.
        case deadlock
        /// The simulated time limit has passed.
        case deadline
        /// Jobs keep coming while simulated time does not pass.
        case livelock
    }
    /// What happened.
    package var code: Code
    /// The seed of the run.
    package var seed: UInt64
    /// The simulated time at which it happened.
    package var uptime: Duration

    init(_ code: Code, in simulation: Simulation) {
        self.code = code
        seed = simulation.seed
        uptime = simulation.uptime
    }

    /// The text for a person.
    package var description: String {
        let what =
            switch code {
            case .deadlock:
                "every task waits and none sleeps: they wait for each other, or for something outside the simulation"
            case .deadline: "the deadline has passed"
            case .livelock: "jobs keep coming without time passing"
            }
        return "Seed \(seed), after \(uptime): \(what)."
    }
}
