import Concurrency
import GatewayKit
import Synchronization
package import Vitals

/// Lets live samples of all devices wait for each other, so that they share a commit: each commit rewrites whole pages of
/// an SD card, however little it stores.
///
/// The first sample after a quiet time does not wait. Later ones wait until `within` after the last release, or until as
/// many samples wait as make the pages of a commit worth it, so that nothing waits long where much comes.
package final class BatchWindow: Sendable {
    /// The samples that do not wait for more: they share the five kilobytes that a commit costs at least.
    package static let batchSize = 64

    private struct State {
        /// Samples that wait, of all devices.
        var count = 0
        var releasedAt: Duration?
        /// Fulfilled when those that wait now may go on.
        var round = Promise<Void>()
        /// Whether one of them watches the time for all.
        var isTimed = false

        mutating func release(at now: Duration) -> Promise<Void> {
            defer { round = Promise() }
            isTimed = false
            count = 0
            releasedAt = now
            return round
        }
    }
    private let state = Mutex(State())
    private let within: Duration
    private let clock: GatewayClock

    /// - Parameter within: the longest wait.
    package init(within: Duration, clock: GatewayClock) {
        self.within = within
        self.clock = clock
    }

    /// Counts samples that begin to wait.
    func add(_ count: Int) {
        let now = clock.uptime
        let round = state.withLock { state -> Promise<Void>? in
            state.count += count
            return state.count >= Self.batchSize ? state.release(at: now) : nil
        }
        round?.fulfil(())
    }

    /// Waits until samples that have been added may be committed, or the task is cancelled. Call it without holding
    /// anything that another device or part may need.
    /// - Returns: whether others may have waited, too.
    func wait() async -> Bool {
        let now = clock.uptime
        let (round, left, isTimed) = state.withLock { state -> (Promise<Void>, Duration, Bool) in
            let left = state.releasedAt.map { $0 + within - now } ?? .zero
            guard left > .zero else { return (state.release(at: now), left, false) }
            defer { state.isTimed = true }
            return (state.round, left, state.isTimed)
        }
        guard left > .zero else {
            round.fulfil(())
            return false
        }
        // All of a round wait for the same moment. A timer for each would be two tasks and some system calls more.
        if isTimed {
            try? await round.wait()
            return true
        }
        await clock.withTimeout(left) { _ = try? await round.wait() }
        let end = clock.uptime
        let own = state.withLock { $0.round === round ? $0.release(at: end) : nil }
        own?.fulfil(())
        return true
    }
}
