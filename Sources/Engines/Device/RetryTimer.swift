import Concurrency
import GatewayKit
import Vitals

/// Waits for the next attempt to connect. While it waits there is a timer, but no task.
final class RetryTimer {
    /// Distinguishes waits: the end of a wait may come twice, or late.
    struct Number: Sendable, Hashable {
        fileprivate var count: Int
        /// Whether it is over because the device was seen.
        fileprivate var isSeen = false
    }

    /// By how much an attempt may be late. The waits have jitter in any case.
    static let tolerance: Duration = .milliseconds(250)

    /// The longest wait for a device that is seen all the time and cannot be connected. A device that calls waits for
    /// twice as long.
    static let longestSeenWait: Duration = .seconds(15)

    private let clock: GatewayClock
    private let timers: Timers
    private let presence: DevicePresence
    private var count = 0
    /// How many attempts since the last session began because the device was seen.
    private var vainAttempts = 0
    /// The attempts without a session since the last connection that lasted.
    private var failures = RepeatedNotice()
    /// The present wait, with what ends it early.
    private var wait: (timer: Timers.Timer, end: @Sendable () -> Void)?

    init(clock: GatewayClock, timers: Timers, presence: DevicePresence) {
        self.clock = clock
        self.timers = timers
        self.presence = presence
    }

    /// Begins to wait after an attempt that failed or a session that ended, for less than `duration` if the device is
    /// seen.
    /// - Parameter onOver: called with the number of this wait when it is over; pass it to `end`.
    func begin(_ duration: Duration, onOver: @escaping @Sendable (Number) -> Void) {
        cancel()
        count += 1
        let end: @Sendable () -> Void = { [count] in onOver(Number(count: count)) }
        wait = (timers.set(after: duration, tolerance: Self.tolerance, end), end)
        // A device that is seen need not wait as long, but neither one that comes and goes nor one that is heard and
        // out of reach must keep the gateway busy.
        let earliest = clock.uptime + min(duration, seenWait)
        let endSeen: @Sendable () -> Void = { [count] in onOver(Number(count: count, isSeen: true)) }
        presence.whenSeen { [timers, clock] in
            let left = earliest - clock.uptime
            if left > .zero { _ = timers.set(after: left, endSeen) } else { endSeen() }
        }
    }

    /// The shortest wait for a device that is seen. It doubles with each vain attempt that a sighting began.
    private var seenWait: Duration {
        guard vainAttempts > 0 else { return ConnectionMachine.firstWait }
        return min(ConnectionMachine.firstWait * (1 << min(vainAttempts - 1, 10)), Self.longestSeenWait)
    }

    /// The attempt has opened a session.
    func succeeded() { vainAttempts = 0 }

    /// The attempt has opened none. Returns how many failed since the last connection that lasted, if it is to be said.
    func failed(_ reason: String) -> Int? { failures.isDue(reason, at: clock.uptime) ? failures.count : nil }

    /// A connection that lasted is over: the next failure is said at once.
    func forgetFailures() { failures = RepeatedNotice() }

    /// Ends the wait before its time, if there is one: `onOver` is called.
    func endEarly() { wait?.end() }

    /// Ends the wait of this number. Returns whether it was still going on.
    func end(_ number: Number) -> Bool {
        guard wait != nil, number.count == count else { return false }
        if number.isSeen { vainAttempts += 1 }
        cancel()
        return true
    }

    /// Ends the wait without a call of `onOver`.
    func cancel() {
        guard let wait else { return }
        timers.cancel(wait.timer)
        presence.ignore()
        self.wait = nil
    }
}
