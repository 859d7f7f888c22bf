import Concurrency
import Synchronization
import Vitals

/// Runs jobs one at a time on the thread that calls `run`. A seed chooses the next among the ready jobs.
///
/// Tasks with this executor preference run here, with their child tasks and the default actors that they call. An actor
/// with its own executor uses one from `serialExecutor()`. Unstructured tasks (`Task {`) do not inherit the preference
/// and are outside the simulation.
package final class SeededExecutor: TaskExecutor, Sendable {
    /// A ready job, with its isolating executor if that is not this one.
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

        /// Adds a choice to the fingerprint (FNV-1a, by words).
        mutating func mix(_ choice: Int64) {
            fingerprint = (fingerprint ^ UInt64(bitPattern: choice)) &* 0x0000_0100_0000_01B3
        }
    }
    private let state: Mutex<State>

    /// Creates an executor whose order of jobs depends on a seed.
    package init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed))) }

    /// Adds a ready job.
    package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), on: nil) }

    /// A custom executor for an actor, so that its jobs run here, too.
    package func serialExecutor() -> SeededSerialExecutor { SeededSerialExecutor(self) }

    /// The simulated time since the start.
    package var now: Duration { state.withLock { $0.now } }

    /// A hash of all choices so far: equal for two runs of the same code and seed, unless the code is not
    /// deterministic.
    package var fingerprint: UInt64 { state.withLock { $0.fingerprint } }

    /// The number of sleeping tasks.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Runs one ready job. Returns whether there was one.
    func runOne() -> Bool {
        let next = state.withLock { state -> Ready? in
            guard !state.ready.isEmpty else { return nil }
            let index = Int.random(in: state.ready.indices, using: &state.random)
            state.mix(Int64(state.ready.count))
            state.mix(Int64(index))
            // Swapping to the end before removal takes constant time.
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

    /// Advances the time to the next deadline, but not beyond `limit`, and wakes all sleepers of that deadline.
    func advance(limit: Duration) -> Advance {
        let (result, woken) = state.withLock { state -> (Advance, [SleeperQueue.Sleeper]) in
            guard let deadline = state.sleepers.nextDeadline() else { return (.nobodySleeps, []) }
            guard deadline <= limit else {
                state.now = max(state.now, limit)
                return (.limitReached, [])
            }
            state.now = max(state.now, deadline)
            state.mix(deadline.components.seconds ^ deadline.components.attoseconds)
            return (.advanced, state.sleepers.popDue(until: state.now))
        }
        for sleeper in woken { sleeper.fulfil(()) }
        return result
    }

    enum Advance { case advanced, limitReached, nobodySleeps }

    /// Sleeps until the simulated time `deadline`.
    func sleep(until deadline: Duration) async throws {
        let identifier = state.withLock { state in
            state.nextIdentifier += 1
            return state.nextIdentifier
        }
        try Task.checkCancellation()
        let sleeper = Promise<Void>()
        let isDue = state.withLock { state in
            if deadline > state.now { state.sleepers.insert(sleeper, identifier: identifier, until: deadline) }
            return deadline <= state.now
        }
        if isDue { return }
        do {
            try await sleeper.wait()
        } catch {
            state.withLock { _ = $0.sleepers.remove(identifier) }
            throw error
        }
    }

    fileprivate func enqueue(_ job: UnownedJob, on serial: SeededSerialExecutor?) {
        state.withLock { $0.ready.append(Ready(job: job, serial: serial)) }
    }
}

/// An executor for one actor; a `SeededExecutor` runs its jobs among all others.
package final class SeededSerialExecutor: SerialExecutor {
    private let executor: SeededExecutor

    fileprivate init(_ executor: SeededExecutor) { self.executor = executor }

    /// Adds a job of the actor.
    package func enqueue(_ job: consuming ExecutorJob) { executor.enqueue(UnownedJob(job), on: self) }
}
