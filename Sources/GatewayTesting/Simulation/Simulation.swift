package import GatewayKit
import Synchronization
package import Vitals

/// A small world in which a seed decides everything that is otherwise left to chance: the order of all jobs, and, through
/// `random`, whatever a test lets go wrong. The same seed replays the same run.
///
/// What runs in it must use structured tasks, default actors (or actors with `executor.serialExecutor()`) and
/// `gatewayClock`, and must not depend on the order of a `Set` or `Dictionary`.
package final class Simulation: Sendable {
    /// Jobs that may run without time passing before a run counts as going round in circles: a thousand devices with ten
    /// thousand jobs each.
    package static let maximumJobsPerInstant = 10_000_000
    /// When simulations begin unless they say otherwise: 2026-01-01T00:00:00Z.
    package static let defaultStart = Timestamp(seconds: 1_767_225_600)

    /// The seed.
    package let seed: UInt64
    /// Runs every job of the simulation.
    package let executor: SeededExecutor
    /// The steady clock.
    package let clock: SimulatedClock
    private let start: Timestamp
    private let jump = Mutex(Duration.zero)
    private let generator: Mutex<SplitMix64>

    /// A world of a seed that begins at a date.
    package init(seed: UInt64, start: Timestamp = defaultStart) {
        self.seed = seed
        self.start = start
        executor = SeededExecutor(seed: seed)
        clock = SimulatedClock(executor)
        // Faults are drawn from numbers of their own, so that one more job does not change all of them.
        generator = Mutex(SplitMix64(seed: ~seed))
    }

    /// The simulated time since the beginning. It never jumps.
    package var uptime: Duration { executor.now }
    /// The simulated date, by the machine's clock.
    package var date: Timestamp { trueDate + jump.withLock { $0 } }
    /// The simulated date, whatever the machine's clock says.
    package var trueDate: Timestamp { start + executor.now }
    /// Sets the date forward, or back where `duration` is negative, as if somebody set the machine's clock.
    package func jumpDate(by duration: Duration) { jump.withLock { $0 += duration } }
    /// Sets the date right.
    package func correctDate() { jump.withLock { $0 = .zero } }
    /// A hash of all choices of the scheduler: equal for two runs with the same seed.
    package var fingerprint: UInt64 { executor.fingerprint }
    /// A generator for faults. Each call gives another one, in an order that the seed decides.
    package func random() -> SplitMix64 { generator.withLock { $0.split() } }

    /// The clocks as the gateway takes them.
    package var gatewayClock: GatewayClock {
        GatewayClock(date: { self.date }, steady: clock, steadyNow: { self.uptime })
    }

    /// The clocks of somebody else, whose date is always right.
    package var trueClock: GatewayClock {
        GatewayClock(date: { self.trueDate }, steady: clock, steadyNow: { self.uptime })
    }

    /// Runs `body` to its end in a new world.
    package static func run<Result: Sendable>(
        seed: UInt64, start: Timestamp = defaultStart, deadline: Duration,
        _ body: @escaping @Sendable (Simulation) async throws -> Result
    ) throws -> Result {
        try Simulation(seed: seed, start: start).run(deadline: deadline, body)
    }

    /// Runs `body` to its end, and everything that it waits for.
    /// - Parameter deadline: how much simulated time it may take.
    /// - Throws: what `body` throws, or a `SimulationError`; `body` is cancelled then and gets the chance to end.
    package func run<Result: Sendable>(
        deadline: Duration, _ body: @escaping @Sendable (Simulation) async throws -> Result
    ) throws -> Result {
        let outcome = Outcome<Result>()
        let limit = uptime + deadline
        // The root of the simulated tasks. It has no parent because this function is no task of the simulation; it has
        // ended, or is cancelled and stuck for good, when this function returns.
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

    /// The simulated time that a cancelled body gets to end, so that it lets go of files and threads.
    private static let farewell: Duration = .minutes(10)

    /// Runs jobs, and lets time pass when there are none, until `isDone` and no job is ready. Returns what is wrong otherwise.
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
