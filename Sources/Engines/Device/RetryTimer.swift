import Concurrency
import GatewayKit
import Vitals

/// Waits for the next attempt to connect. While it waits there is an alarm, but no task.
final class RetryTimer {
    /// Tells waits apart: what ends a wait may come twice, or late.
    typealias Number = Int

    /// By how much an attempt may be late. The waits have jitter in any case.
    static let tolerance: Duration = .milliseconds(250)

    private let clock: GatewayClock
    private let alarms: Alarms
    private let presence: DevicePresence
    private var count: Number = 0
    /// The present wait, with what ends it early.
    private var wait: (alarm: Alarms.Alarm, end: @Sendable () -> Void)?

    init(clock: GatewayClock, alarms: Alarms, presence: DevicePresence) {
        self.clock = clock
        self.alarms = alarms
        self.presence = presence
    }

    /// Begins to wait, for less than `duration` if the device is noticed.
    /// - Parameter onOver: called with the number of this wait when it is over; pass it to `end`.
    func begin(_ duration: Duration, onOver: @escaping @Sendable (Number) -> Void) {
        cancel()
        count += 1
        let end: @Sendable () -> Void = { [count] in onOver(count) }
        wait = (alarms.set(after: duration, tolerance: Self.tolerance, end), end)
        // A device that is noticed need not wait any longer, but one that comes and goes must not keep the gateway busy.
        let earliest = clock.uptime + min(duration, ConnectionMachine.firstWait)
        presence.whenNoticed { [alarms, clock] in
            let left = earliest - clock.uptime
            if left > .zero { _ = alarms.set(after: left, end) } else { end() }
        }
    }

    /// Ends the wait before its time, if there is one: `onOver` is called.
    func endEarly() { wait?.end() }

    /// Ends the wait of this number. Returns whether it was still going on.
    func end(_ number: Number) -> Bool {
        guard wait != nil, number == count else { return false }
        cancel()
        return true
    }

    /// Ends the wait without a call of `onOver`.
    func cancel() {
        guard let wait else { return }
        alarms.cancel(wait.alarm)
        presence.ignore()
        self.wait = nil
    }
}
