import Concurrency
import GatewayTesting
import Synchronization
import TestSupport
import Vitals

/// A clock that moves only when the test says so. A simulation's clock does not do here, since the threads of the buses are none of a
/// simulation.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var uptime: Duration
        func advanced(by duration: Duration) -> Instant { Instant(uptime: uptime + duration) }
        func duration(to other: Instant) -> Duration { other.uptime - uptime }
        static func < (a: Instant, b: Instant) -> Bool { a.uptime < b.uptime }
    }
    private struct Sleeper {
        var deadline: Instant
        let end = Promise<Void>()
    }
    private struct State {
        var now = Instant(uptime: .zero)
        var sleepers: [Sleeper] = []
    }
    private let state = Mutex(State())
    /// The moments until which tasks have slept or sleep.
    let deadlines = Recorder<Duration>()

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// The gateway's clocks, driven by this one.
    var gatewayClock: GatewayClock {
        GatewayClock(
            date: { Timestamp(seconds: 1_763_683_200) + self.now.uptime }, steady: self,
            steadyNow: { self.now.uptime })
    }

    /// Moves the clock while a task sleeps until then or until a moment shortly before. A task whose sleep is over may read the
    /// clock before it moves, and sleep on from there.
    func move(to uptime: Duration, from earliest: Duration? = nil) async throws {
        let range = (earliest ?? uptime)...uptime
        while true {
            let seen = deadlines.elements.count
            if set(to: uptime, whileSomebodySleepsUntil: range) { return }
            try await deadlines.wait(within: Clinic.timeout) { $0.dropFirst(seen).contains { range.contains($0) } }
        }
    }

    /// Moves the clock, also if no task sleeps.
    func set(to uptime: Duration) { set(to: uptime, whileSomebodySleepsUntil: nil) }

    @discardableResult
    private func set(to uptime: Duration, whileSomebodySleepsUntil range: ClosedRange<Duration>?) -> Bool {
        let due = state.withLock { state -> [Sleeper]? in
            if let range, !state.sleepers.contains(where: { range.contains($0.deadline.uptime) }) { return nil }
            state.now = Instant(uptime: uptime)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due ?? [] { sleeper.end.fulfil(()) }
        return due != nil
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let sleeper = Sleeper(deadline: deadline)
        let isOver = state.withLock { state -> Bool in
            if deadline <= state.now { return true }
            state.sleepers.append(sleeper)
            return false
        }
        if isOver { return }
        deadlines.append(deadline.uptime)
        do { try await sleeper.end.wait() } catch {
            state.withLock { state in state.sleepers.removeAll { $0.end === sleeper.end } }
            throw error
        }
    }
}
