import Synchronization
import Vitals

/// Runs jobs one at a time on the thread that calls `run`, the next one drawn from those that are ready by a seed.
///
/// Tasks that are started with this executor as their preference run here with their child tasks and with the default
/// actors that they call. An actor that has an executor of its own takes one of `serialExecutor()`. Unstructured tasks
/// (`Task {`) do not inherit the preference and are outside of the simulation.
package final class SeededExecutor: TaskExecutor, Sendable {
    /// A job that is ready, with the executor that isolates it where that is not this one.
    private struct Ready {
        var job: UnownedJob
        var serial: SeededSerialExecutor?
    }

    private struct State {
        var ready: [Ready] = []
        var sleepers = SleeperQueue()
        var now = Duration.zero
        var random: SplitMix64
        var nextIdentifier: UInt64 = 0
        var fingerprint: UInt64 = 0xCBF2_9CE4_8422_2325

        /// Mixes a choice into the fingerprint (FNV-1a, by words).
        mutating func mix(_ choice: Int64) {
            fingerprint = (fingerprint ^ UInt64(bitPattern: choice)) &* 0x0000_0100_0000_01B3
        }
    }
    private let state: Mutex<State>

    /// An executor whose order of jobs is that of a seed.
    package init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed))) }

    /// Takes a job that has become ready.
    package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), on: nil) }

    /// An executor for an actor that takes one, so that its jobs run here, too.
    package func serialExecutor() -> SeededSerialExecutor { SeededSerialExecutor(self) }

    /// The simulated time since the beginning.
    package var now: Duration { state.withLock { $0.now } }

    /// A hash of all choices so far: equal for two runs of the same code and seed, unless something else than the seed
    /// decided.
    package var fingerprint: UInt64 { state.withLock { $0.fingerprint } }

    /// How many tasks sleep.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Runs one job that is ready. Returns whether there was one.
    func runOne() -> Bool {
        let next = state.withLock { state -> Ready? in
            guard !state.ready.isEmpty else { return nil }
            let index = Int.random(in: state.ready.indices, using: &state.random)
            state.mix(Int64(state.ready.count))
            state.mix(Int64(index))
            // Swapped out instead of removed, which takes the same time whatever the count.
            state.ready.swapAt(index, state.ready.count - 1)
            return state.ready.removeLast()
        }
        guard let next else { return false }
        if let serial = next.serial {
            next.job.runSynchronously(
                isolatedTo: serial.asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        } else {
            next.job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return true
    }

    /// Lets time pass to the next deadline, but not beyond `limit`, and wakes everybody whose deadline that is.
    func advance(limit: Duration) -> Advance {
        let (result, woken) = state.withLock { state -> (Advance, [SleeperQueue.Sleeper]) in
            guard let deadline = state.sleepers.nextDeadline() else { return (.nobodySleeps, []) }
            guard deadline <= limit else {
                state.now = max(state.now, limit)
                return (.limitReached, [])
            }
            state.now = max(state.now, deadline)
            state.mix(deadline.components.seconds ^ deadline.components.attoseconds)
            return (.advanced, state.sleepers.take(until: state.now))
        }
        for sleeper in woken { sleeper.resume() }
        return result
    }

    enum Advance { case advanced, limitReached, nobodySleeps }

    /// Sleeps until the simulated time is `deadline`.
    func sleep(until deadline: Duration) async throws {
        let identifier = state.withLock { state in
            state.nextIdentifier += 1
            return state.nextIdentifier
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (sleeper: SleeperQueue.Sleeper) in
                let immediate = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers.insert(sleeper, identifier: identifier, until: deadline)
                    return nil
                }
                if let immediate { sleeper.resume(with: immediate) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.remove(identifier) }?.resume(throwing: CancellationError())
        }
    }

    fileprivate func enqueue(_ job: UnownedJob, on serial: SeededSerialExecutor?) {
        state.withLock { $0.ready.append(Ready(job: job, serial: serial)) }
    }
}

/// An executor for one actor, whose jobs a `SeededExecutor` runs among all others.
package final class SeededSerialExecutor: SerialExecutor {
    private let executor: SeededExecutor

    fileprivate init(_ executor: SeededExecutor) { self.executor = executor }

    /// Takes a job of the actor.
    package func enqueue(_ job: consuming ExecutorJob) { executor.enqueue(UnownedJob(job), on: self) }
}
