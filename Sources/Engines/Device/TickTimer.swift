import Concurrency
import Vitals

/// When the agent looks at the time next.
final class TickTimer {
    private let context: DeviceContext
    private let alarms: Alarms
    private var next: (at: Duration, alarm: Alarms.Alarm)?
    /// Whether the agent looks at the time at the moment. It sets the next look at the end.
    private var isLooking = false

    init(context: DeviceContext, alarms: Alarms) {
        self.context = context
        self.alarms = alarms
    }

    /// Calls `action` within `duration`, unless an earlier look is set. It may be late by `tolerance`.
    func set(within duration: Duration, tolerance: Duration, _ action: @escaping @Sendable () -> Void) {
        let at = context.clock.uptime + duration
        if context.isStopping || isLooking || next.map({ $0.at <= at }) ?? false { return }
        cancel()
        next = (at, alarms.set(after: duration, tolerance: tolerance, action))
    }

    /// Begins a look. Returns whether none is going on.
    func begin() -> Bool {
        cancel()
        guard !isLooking, !context.isStopping else { return false }
        isLooking = true
        return true
    }

    func end() { isLooking = false }

    func cancel() {
        if let next { alarms.cancel(next.alarm) }
        next = nil
    }
}
