import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// How often the engines look at the time. The running day is published at most as often.
    static let tick: Duration = .seconds(5)
    /// How often the last sign of life is kept.
    static let lastSeenInterval: Duration = .minutes(5)

    /// Does what the time asks for: values that go stale, days that end, synchronisations and measurements that are due.
    func keepTime() async {
        while stopping.value == nil {
            let now = clock.now
            await tick(at: now)
            let wait = nextExpiry.map { max(.milliseconds(1), min(Self.tick, $0 - now)) } ?? Self.tick
            do { try await clock.sleep(for: wait) } catch { return }
        }
    }

    private func tick(at now: Timestamp) async {
        publishAvailability(always: false)
        publishLatest()
        do throws(StoreError) {
            try await intakeGate.alone { () async throws(StoreError) in
                try await beginDayIfDue()
                for metric in ledger.today.outdated { try await rebuildToday(metric) }
            }
            publishToday()
            // A synchronisation settles the days that it touches when it has them whole.
            if sync.job == nil { try await settleDays() }
        } catch {
            logger.error("The days cannot be summarised; trying again.", metadata: ["error": "\(error)"])
        }
        if let lastSeen, lastSeenSaved.map({ lastSeen - $0 >= Self.lastSeenInterval }) ?? true {
            lastSeenSaved = lastSeen
            await keep([.lastSeen(lastSeen)])
        }
        guard session != nil else { return }
        if nextSync.map({ $0 <= now }) ?? false {
            nextSync = now + policy.sync.every
            request(SyncJob(name: "schedule", metrics: []))
        }
        await perform(measurement.handle(.overdue, at: now))
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
