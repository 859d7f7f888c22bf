import Concurrency
import GatewayKit
import Vitals

/// The agent's work as time passes: values go stale, days end, synchronisations and measurements begin.
extension DeviceAgent {
    /// Interval of ticks while something happens. The running day is published at most this often.
    static let tick: Duration = .seconds(5)
    /// The longest wait while nothing happens: then nothing is due but at known times, if the date is not set.
    package static let longestInterval: Duration = .minutes(5)
    /// By how much the tick after `longestInterval` may be late.
    private static let tolerance: Duration = .seconds(1)
    /// Minimum wait, so that values that go stale at almost the same time do not make the agent spin.
    private static let shortestTick: Duration = .milliseconds(10)

    /// Sets a tick within `duration`.
    func scheduleTick(within duration: Duration) {
        let tolerance = duration < Self.longestInterval ? Duration.zero : Self.tolerance
        tickTimer.set(within: duration, tolerance: tolerance) { [weak self] in
            guard let self else { return }
            launcher.launch { await self.runDueWork() }
        }
    }

    /// Does what is due.
    func runDueWork() async {
        guard tickTimer.begin() else { return }
        await keepTimeOnce()
        tickTimer.end()
        scheduleTick(within: max(Self.shortestTick, timeToNextTick))
    }

    private func keepTimeOnce() async {
        link.publishAvailability(always: false)
        ingest.publishLatest()
        await days.refreshDays(settlesPast: !history.isRunning)
        await link.saveLastSeen(isFinal: false)
        await ingest.reportRefused(isFinal: false)
        history.publishSkipped()
        guard link.session != nil else { return }
        history.requestIfDue()
        await measuring.runDueWork(monitor.settings)
    }

    private var timeToNextTick: Duration {
        let now = context.clock.now
        let isQuiet = link.session == nil && !ingest.hasRefused && !days.isBehind
        let dates = [ingest.nextExpiry, link.offlineAt, isQuiet ? days.end : nil].compactMap { $0 }
        return dates.reduce(isQuiet ? Self.longestInterval : Self.tick) { min($0, $1 - now) }
    }
}
