import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// How long to wait before samples that the store did not take are offered again.
    static let storeRetry: Duration = .seconds(1)

    /// Keeps samples, with everything that follows from them.
    ///
    /// `isUrgent` means that they are nowhere else: the call waits for a store that cannot take them, and meanwhile the
    /// device is held back.
    @discardableResult
    func take(
        _ samples: [Sample], source: SampleSource, cursors: [Metric: Timestamp] = [:], isUrgent: Bool = false
    ) async throws(StoreError) -> IntakeResult {
        let incoming = samples.map { Intake.Incoming(sample: $0, id: SampleID(device: id, sample: $0)) }
        guard isUrgent else { return try await keep(incoming, source: source, cursors: cursors) }
        return try await untilKept { () async throws(StoreError) in
            try await self.keep(incoming, source: source, cursors: cursors)
        }
    }

    /// Offers the store what is nowhere else, until it takes it or the session ends.
    private func untilKept<Result>(
        _ body: () async throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        var failures = FailureCount()
        while true {
            do throws(StoreError) { return try await body() } catch {
                guard !Task.isCancelled else { throw error }
                if failures.addIsTold() {
                    logger.error(
                        "Samples cannot be kept; trying again.",
                        metadata: ["error": "\(error)", "failures": "\(failures.count)"])
                }
                do { try await clock.sleep(for: Self.storeRetry) } catch { throw StoreError(.closed, "\(error)") }
                // It is we who do not listen: the device is not silent.
                lastHeard = clock.uptime
            }
        }
    }

    private func keep(
        _ samples: [Intake.Incoming], source: SampleSource, cursors: [Metric: Timestamp]
    ) async throws(StoreError) -> IntakeResult {
        try await intakeGate.alone { () async throws(StoreError) in
            beginDayIfDue()
            let context = context(of: source)
            let ledger = ledger
            let result = try await store.take(
                Intake(device: id, samples: samples, receivedAt: context.now, cursors: cursors) { outcomes in
                    ledger.recording(outcomes, in: context)
                })
            for (metric, cursor) in cursors { self.cursors[metric] = cursor }
            hold(result.ledger.latest, isSync: source == .sync)
            adopt(result, publishesLatest: source != .sync)
            return result
        }
    }

    /// What a synchronisation brings is published at its end; what comes live meanwhile is published at once.
    private func hold(_ latest: [Metric: StoredSample], isSync: Bool) {
        for (metric, stored) in latest where ledger.latest[metric] != stored {
            if isSync { heldLatest.insert(metric) } else { heldLatest.remove(metric) }
        }
    }

    /// Takes an alert that the device raised itself.
    func take(_ alert: DeviceAlert) async throws(StoreError) {
        try await untilKept { () async throws(StoreError) in
            try await self.decide { ledger, context in ledger.recording(alert, in: context) }
        }
    }

    /// Lets the ledger decide something without samples, in a transaction of its own.
    func decide(
        _ decision: @escaping @Sendable (DeviceLedger, IntakeContext) -> Decision
    ) async throws(StoreError) {
        try await intakeGate.alone { () async throws(StoreError) in
            let context = context(of: .live)
            let ledger = ledger
            let result = try await store.take(
                Intake(device: id, samples: [], receivedAt: context.now) { _ in decision(ledger, context) })
            adopt(result, publishesLatest: false)
        }
    }

    /// A device that measured on demand was put on for it, whatever it said of itself before.
    private func context(of source: SampleSource) -> IntakeContext {
        IntakeContext(
            source: source, now: clock.now, freshness: policy.freshness, settings: twin.settings,
            policy: policy.alerts, isWorn: isWorn || source == .measure, calendar: policy.calendar)
    }

    private func adopt(_ result: IntakeResult, publishesLatest: Bool) {
        ledger = result.ledger
        unsettled.formUnion(result.unsettledDays)
        for level in result.levels { publish(.level(level)) }
        if publishesLatest { publishLatest() }
    }

    /// Publishes the newest samples that changed, or went stale.
    func publishLatest() {
        let now = clock.now
        for metric in Metric.allCases {
            // One that is held back is not published, but what was published before goes stale all the same.
            let newest = heldLatest.contains(metric) ? publishedLatest[metric]?.stored : ledger.latest[metric]
            guard let stored = newest else { continue }
            let freshUntil = policy.freshness[metric].map { stored.sample.end + $0 }
            let isStale = freshUntil.map { $0 <= now } ?? false
            let state = LatestState(stored: stored, freshUntil: freshUntil, isStale: isStale)
            guard publishedLatest[metric] != state else { continue }
            publishedLatest[metric] = state
            publish(.latest(state))
        }
    }

    /// When the next value goes stale.
    var nextExpiry: Timestamp? {
        publishedLatest.values.compactMap { $0.isStale ? nil : $0.freshUntil }.min()
    }
}
