import HeapModule
import Synchronization

/// Timers for many: each calls its action once, at its time. However many are set, one task waits for all of them, and
/// each is a place in a heap; a sleeping task for each would cost a hundred times as much.
package final class Timers: Sendable {
    /// A timer that was set.
    package struct Timer: Sendable, Hashable { fileprivate let number: UInt64 }

    private struct Place: Comparable {
        let time: Duration
        let number: UInt64

        static func < (a: Place, b: Place) -> Bool { (a.time, a.number) < (b.time, b.number) }
    }

    private struct State {
        /// The timers by time. The place of a cancelled one stays until its time, or until most places are such.
        var places = Heap<Place>()
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var next: UInt64 = 0

        /// The time of the first timer.
        mutating func firstTime() -> Duration? {
            while let first = places.min {
                if actions[first.number] != nil { return first.time }
                places.removeMin()
            }
            return nil
        }

        /// Removes and returns the actions that are due, in the order of their times.
        mutating func takeDue(at now: Duration) -> [@Sendable () -> Void] {
            var due: [@Sendable () -> Void] = []
            while let time = firstTime(), time <= now, let place = places.popMin() {
                if let action = actions.removeValue(forKey: place.number) { due.append(action) }
            }
            return due
        }
    }
    private let state = Mutex(State())
    /// Wakes `run` for a timer that is earlier than all others.
    private let change = Signal()
    private let uptime: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - uptime: a time that never goes back.
    ///   - sleep: waits on the clock of `uptime`.
    package init(
        uptime: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.uptime = uptime
        self.sleep = sleep
    }

    /// The number of timers that are set.
    package var count: Int { state.withLock { $0.actions.count } }

    /// Calls `action` after `duration`, while `run` runs. The action holds up all other timers, so it must return at
    /// once.
    /// - Parameter tolerance: by how much it may be late. Timers of the same tolerance then fire together, so that many
    ///   of them wake the process seldom.
    package func set(
        after duration: Duration, tolerance: Duration = .zero, _ action: @escaping @Sendable () -> Void
    ) -> Timer {
        var time = uptime() + duration
        if tolerance > .zero { time = tolerance * Int((time / tolerance).rounded(.up)) }
        let (timer, isFirst) = state.withLock { [time] state in
            let first = state.firstTime()
            let timer = Timer(number: state.next)
            state.next += 1
            state.actions[timer.number] = action
            state.places.insert(Place(time: time, number: timer.number))
            return (timer, first.map { time < $0 } ?? true)
        }
        if isFirst { change.wake() }
        return timer
    }

    /// Cancels a timer. Its action may just be called, if it was due at the same moment.
    package func cancel(_ timer: Timer) {
        // The action is released outside of the lock: the end of what it holds may run other code.
        let action = state.withLock { state in
            let action = state.actions.removeValue(forKey: timer.number)
            if state.places.count > 2 * state.actions.count + Self.spare {
                let actions = state.actions
                state.places = Heap(state.places.unordered.filter { actions[$0.number] != nil })
            }
            return action
        }
        withExtendedLifetime(action) {}
    }

    /// Places of cancelled timers that are always kept, so that a few timers do not rebuild the heap all the time.
    private static let spare = 64

    /// Returns when `run` has called the action of a new timer, or when the task is cancelled: as long as it does not,
    /// no other timer fires either.
    package func answer() async {
        let turn = Promise<Void>()
        let timer = set(after: .zero) { turn.fulfil(()) }
        try? await turn.wait()
        cancel(timer)
    }

    /// Calls the actions of timers, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            let now = uptime()
            for action in state.withLock({ $0.takeDue(at: now) }) { action() }
            let first = state.withLock { $0.firstTime() }
            guard let first else {
                await change.wait()
                continue
            }
            let left = first - uptime()
            if left > .zero { await race(against: { try await self.sleep(left) }) { await self.change.wait() } }
        }
    }
}
