import Concurrency
import Vitals

/// When the next tick of the agent is.
final class TickTimer {
    private let context: DeviceContext
    private let timers: Timers
    private var next: (at: Duration, timer: Timers.Timer)?
    /// Whether a tick is going on. The agent sets the next one at its end.
    private var isChecking = false

    init(context: DeviceContext, timers: Timers) {
        self.context = context
        self.timers = timers
    }

    /// Calls `action` within `duration`, unless an earlier tick is set. It may be late by `tolerance`.
    func set(within duration: Duration, tolerance: Duration, _ action: @escaping @Sendable () -> Void) {
        let at = context.clock.uptime + duration
        if context.isStopping || isChecking || next.map({ $0.at <= at }) ?? false { return }
        cancel()
        next = (at, timers.set(after: duration, tolerance: tolerance, action))
    }

    /// Begins a tick. Returns whether none is going on.
    func begin() -> Bool {
        cancel()
        guard !isChecking, !context.isStopping else { return false }
        isChecking = true
        return true
    }

    func end() { isChecking = false }

    func cancel() {
        if let next { timers.cancel(next.timer) }
        next = nil
    }
}
