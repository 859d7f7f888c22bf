import Concurrency
import GatewayKit
import Synchronization
import Vitals

/// A clock that moves only when advanced.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }
    private struct Sleeper {
        var deadline: Instant
        let end = Promise<Void>()
    }
    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
    }
    private let state = Mutex(State())
    /// The deadline of every sleep, for tests that wait for a sleep to begin.
    let begun = UnboundedQueue<Duration>()

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// The gateway's clocks, driven by this one. The date starts at Unix time 1,763,683,200 s (2025-11-21).
    var gatewayClock: GatewayClock {
        GatewayClock(
            date: { Timestamp(seconds: 1_763_683_200) + self.now.offset }, steady: self,
            steadyNow: { self.now.offset })
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state -> [Sleeper] in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.end.fulfil(()) }
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
        begun.put(deadline.offset)
        do { try await sleeper.end.wait() } catch {
            state.withLock { state in state.sleepers.removeAll { $0.end === sleeper.end } }
            throw error
        }
    }
}
