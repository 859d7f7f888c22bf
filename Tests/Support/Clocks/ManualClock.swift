import Concurrency
import Synchronization
package import Vitals

/// A clock that moves only when the test says so, for threads that are none of a simulation.
package final class ManualClock: Clock, Sendable {
    private struct Sleeper {
        var deadline: TestInstant
        let end = Promise<Void>()
    }
    private struct State {
        var now = TestInstant(offset: .zero)
        var sleepers: [Sleeper] = []
        /// How many sleeps `nextSleep` has returned.
        var returned = 0
    }
    private let state = Mutex(State())
    /// The moments until which tasks have slept or sleep.
    package let deadlines = Recorder<Duration>()

    /// Creates a clock that shows zero.
    package init() {}

    package var now: TestInstant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// The gateway's clocks, driven by this one. The date starts at Unix time 1,763,683,200 s (2025-11-21).
    package var gatewayClock: GatewayClock {
        GatewayClock(
            date: { Timestamp(seconds: 1_763_683_200) + self.now.offset }, steady: self,
            steadyNow: { self.now.offset })
    }

    /// The moment until which the next task sleeps, as soon as it does.
    package func nextSleep() async throws -> Duration {
        let number = state.withLock { state in
            state.returned += 1
            return state.returned - 1
        }
        return try await deadlines.wait { $0.count > number }[number]
    }

    /// Moves the clock while a task sleeps until then or until a moment shortly before. A task whose sleep is over may read the
    /// clock before it moves, and sleep on from there.
    package func move(to uptime: Duration, from earliest: Duration? = nil) async throws {
        let range = (earliest ?? uptime)...uptime
        while true {
            let seen = deadlines.elements.count
            if set(to: uptime, whileSomebodySleepsUntil: range) { return }
            try await deadlines.wait(within: .seconds(20)) { $0.dropFirst(seen).contains { range.contains($0) } }
        }
    }

    /// Moves the clock, also if no task sleeps.
    package func set(to uptime: Duration) { set(to: uptime, whileSomebodySleepsUntil: nil) }

    /// Moves the clock on, also if no task sleeps.
    package func advance(by duration: Duration) { set(to: now.offset + duration) }

    @discardableResult
    private func set(to uptime: Duration, whileSomebodySleepsUntil range: ClosedRange<Duration>?) -> Bool {
        let due = state.withLock { state -> [Sleeper]? in
            if let range, !state.sleepers.contains(where: { range.contains($0.deadline.offset) }) { return nil }
            state.now = TestInstant(offset: uptime)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due ?? [] { sleeper.end.fulfil(()) }
        return due != nil
    }

    package func sleep(until deadline: TestInstant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let sleeper = Sleeper(deadline: deadline)
        let isOver = state.withLock { state -> Bool in
            if deadline <= state.now { return true }
            state.sleepers.append(sleeper)
            return false
        }
        if isOver { return }
        deadlines.append(deadline.offset)
        do { try await sleeper.end.wait() } catch {
            state.withLock { state in state.sleepers.removeAll { $0.end === sleeper.end } }
            throw error
        }
    }
}
