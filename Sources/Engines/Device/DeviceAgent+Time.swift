import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// How often the engines look at the time. The running day is published at most as often.
    static let tick: Duration = .seconds(5)
    /// A value that goes stale within it is noticed with it: time that is due must not turn into a spin.
    static let shortestWait: Duration = .milliseconds(10)
    /// How often the last sign of life is kept.
    static let lastSeenInterval: Duration = .minutes(5)

    /// Does what the time asks for: values that go stale, days that end, synchronisations and measurements that are due.
    func keepTime() async {
        while stopping.value == nil {
            await tick(at: clock.now)
            let wait = nextExpiry.map { max(Self.shortestWait, min(Self.tick, $0 - clock.now)) } ?? Self.tick
            guard await pause(for: wait) else { return }
        }
    }

    /// Waits, but not longer than until the agent is stopped. Returns whether to go on.
    func pause(for duration: Duration) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [clock] in try? await clock.sleep(for: duration) }
            group.addTask { [stopping] in _ = try? await stopping.wait() }
            await group.next()
            group.cancelAll()
        }
        return stopping.value == nil && !Task.isCancelled
    }

    private func tick(at now: Timestamp) async {
        publishAvailability(always: false)
        publishLatest()
        do throws(StoreError) {
            try await refreshToday()
            // A synchronisation settles the days that it touches when it has them whole.
            if sync.job == nil { try await settleDays() }
            dayFailures = FailureCount()
        } catch {
            if dayFailures.addIsTold() {
                logger.error(
                    "The days cannot be summarised; trying again.",
                    metadata: ["error": "\(error)", "failures": "\(dayFailures.count)"])
            }
        }
        // A clock that was set back counts, too.
        if let lastSeen, lastSeenSaved.map({ lastSeen - $0 >= Self.lastSeenInterval || lastSeen < $0 }) ?? true {
            await keepLastSeen()
        }
        guard session != nil else { return }
        if nextSync.map({ $0 <= clock.uptime }) ?? false {
            nextSync = clock.uptime + policy.sync.every
            request(SyncJob(name: "schedule", metrics: []))
        }
        if let deadline = measurementDeadline, deadline.at <= clock.uptime {
            measurementDeadline = nil
            await perform(measurement.handle(.overdue(attempt: deadline.attempt), at: now))
        }
        await measureIfDue(at: now)
    }

    /// Measures what the schedule wants and the device does not measure by itself.
    private func measureIfDue(at now: Timestamp) async {
        guard let capabilities = info.capabilities else { return }
        let due = schedule.due(
            twin.settings, capabilities: capabilities, calendar: policy.calendar, at: now)
        for metric in due {
            await perform(
                measurement.handle(
                    .start(metric, duration: MeasurementSchedule.duration, origin: .schedule), at: now))
        }
    }
}
