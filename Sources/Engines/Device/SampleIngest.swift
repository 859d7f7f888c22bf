import Concurrency
import GatewayKit
import Logging
import Vitals

/// Stores samples and alerts with all their consequences.
final class SampleIngest {
    /// Wait before samples that the store refused are offered again.
    static let storeRetry: Duration = .seconds(1)

    /// The limits by which samples are evaluated.
    var limits = MonitorSettings() { didSet { projection.exerciseMaximum = limits.exerciseMaximum } }
    let context: DeviceContext
    private let profile: DeviceProfile
    let projection: SharedProjection
    private let wear: WearTracker
    var newest: NewestValues
    var input = InputLog()
    /// Called while a failing store holds the device back.
    private let onHeldBack: () -> Void

    init(
        context: DeviceContext, profile: DeviceProfile, projection: SharedProjection, wear: WearTracker,
        onHeldBack: @escaping () -> Void
    ) {
        self.context = context
        self.profile = profile
        self.projection = projection
        self.wear = wear
        self.onHeldBack = onHeldBack
        newest = NewestValues(freshness: context.policy.freshness)
    }

    // MARK: - What the device sends by itself

    /// Stores live samples, and reports to the device which are durable and which are refused.
    /// - Parameter waitsForBatch: whether the commit may wait a few milliseconds for other devices.
    func storeLive(_ live: LiveSamples, from device: any DeviceSession, waitsForBatch: Bool) async throws {
        let (incoming, receipts) = check(live)
        var result: IngestResult?
        if !incoming.isEmpty {
            result = try await retryUntilStored { () async throws(StoreError) in
                try await self.commit(incoming, source: .live, waitsForBatch: waitsForBatch)
            }
        }
        let settled = receipts.map { $0.settled(by: result?.novelties ?? []) }
        if !settled.isEmpty { try await device.settle(settled) }
    }

    /// Stores live samples whose sender is gone. Unlike `storeLive` it tries only once.
    func storeRest(of live: LiveSamples) async throws(StoreError) {
        let incoming = check(live).accepted
        if !incoming.isEmpty { _ = try await commit(incoming, source: .live) }
    }

    /// Takes the plausible samples and counts the others. Returns also the receipts that the device wants.
    private func check(_ live: LiveSamples) -> (accepted: [Sample], receipts: [CheckedReceipt]) {
        let now = context.clock.now
        var accepted: [Sample] = []
        accepted.reserveCapacity(live.samples.count)
        var receipts: [CheckedReceipt] = []
        var erased = 0
        for (sample, receipt) in zip(live.samples, live.receipts) {
            let refusal = SampleCheck.refusal(of: sample, at: now)
            let isTooOld = refusal == nil && isErased(sample)
            if let receipt {
                let error = isTooOld ? Self.tooOld : refusal?.error
                receipts.append(CheckedReceipt(receipt: receipt, refusal: error, place: accepted.count))
            }
            if isTooOld {
                erased += 1
            } else if let refusal {
                refuse(sample, refusal.reason)
            } else {
                accepted.append(sample)
            }
        }
        skipErased(erased, "samples")
        warnOfUndeclared(accepted)
        return (accepted, receipts)
    }

    /// Whether a sample may be stored.
    func isPlausible(_ sample: Sample) -> Bool {
        SampleCheck.refusal(of: sample, at: context.clock.now) == nil && !isErased(sample)
    }

    /// Whether live samples would change the level of an alert, so that they must not wait.
    /// - Parameter preview: the alerts after the samples before these; `nil` without any. It gets these samples.
    func wouldAlert(_ samples: [Sample], preview: inout AlertMachine?) -> Bool {
        projection.current.wouldAlert(samples, preview: &preview, in: ingestContext(of: .live))
    }

    /// Stores a sample of the running measurement. Returns it as stored; `nil` if it is refused.
    func storeMeasured(_ sample: Sample, source: SampleSource) async throws(StoreError) -> StoredSample? {
        let now = context.clock.now
        if let refusal = SampleCheck.refusal(of: sample, at: now) {
            refuse(sample, refusal.reason)
            return nil
        }
        try await store([sample], source: source)
        if let stored = projection.current.latest[sample.metric], stored.sample == sample { return stored }
        return StoredSample(
            sample: sample, of: context.id, revision: 1, receivedAt: context.clock.now)
    }

    /// Counts a sample that cannot be read; without a metric, as a line of input that is ignored.
    func refuse(_ sample: UnreadableSample, of metric: Metric?) {
        guard let metric else { return ignore(sample.problem) }
        let start = sample.start ?? context.clock.now
        input.refuse(metric, .malformed, start: start, end: start)
        log(1, .malformed, metric.rawValue)
    }

    /// Counts a sample that is not stored.
    private func refuse(_ sample: Sample, _ reason: RefusalReason) {
        input.refuse(sample, reason)
        log(1, reason, sample.metric.rawValue)
    }

    /// Counts live samples that are dropped since the store takes none, to be announced as a gap.
    func drop(_ samples: [Sample]) {
        for sample in samples { refuse(sample, .notStored) }
        context.logger.error(
            "Too many live samples wait for the store; the oldest were dropped.",
            metadata: ["count": "\(samples.count)", "limit": "\(LiveIngest.maximumKept)"])
    }

    /// Publishes the samples refused since the last report, as a gap per metric.
    func reportRefused(isFinal: Bool) async {
        let now = context.clock.now
        for (metric, refusals) in input.removeRefused(at: now, isFinal: isFinal) {
            do throws(StoreError) {
                try await context.store.report(Gap(refusals, of: metric, at: now), of: context.id)
            } catch {
                input.restore(refusals, of: metric)
                context.logger.error(
                    "Refused samples cannot be reported; trying again.",
                    metadata: ["error": "\(error)", "metric": "\(metric.rawValue)"])
            }
        }
    }

    /// Stores the battery charge, in percent.
    func storeBattery(percent: Double) async throws(StoreError) {
        let sample = Sample(metric: .battery, start: context.clock.now, reading: .value(percent))
        if let reason = SampleCheck.reason(of: sample) { return refuse(sample, reason) }
        try await store([sample], source: .live)
        await profile.update(.battery)
    }

    /// Stores alerts that the device itself raised or cleared, and reports to the device what became of each. One of the future is refused,
    /// since it comes again by its time.
    func storeAlerts(
        _ alerts: [DeviceAlert], _ receipts: [SampleReceipt], from device: any DeviceSession
    ) async throws {
        var outcomes: [SettledReceipt.Outcome] = []
        for alert in alerts { outcomes.append(try await storeAlert(alert, keepsTime: true)) }
        try await settle(receipts, outcomes, to: device)
    }

    /// Stores an alert that the device itself raised or cleared. Returns what became of it: it is known where the level is that already.
    /// - Parameter keepsTime: whether one of the future is refused. Else it has happened when it arrives: the device's clock is ahead.
    @discardableResult
    func storeAlert(
        _ alert: DeviceAlert, keepsTime: Bool = false
    ) async throws(StoreError) -> SettledReceipt.Outcome {
        if alert.rule.warning != nil { return try await store(warnings: [alert]).first ?? .known }
        guard profile.capabilities.map({ $0.supports(alert.rule.metric) || alert.rule.isOffered(by: $0) }) ?? true
        else {
            skip(SkippedValues(reason: "undeclared", what: "alerts of \(alert.rule.name)", count: 1))
            return .refused(Self.undeclared)
        }
        var alert = alert
        let now = context.clock.now
        if alert.at > now + SyncPolicy.futureTolerance {
            if keepsTime {
                return .refused(refuse(alert, .future, "The alert lies in the future; set the device's clock."))
            }
            alert.at = now
        }
        guard !input.erasures.cover(alert.at, user: nil) else {
            skipErased(1, "alerts of \(alert.rule.name)")
            return .refused(Self.tooOld)
        }
        let final = alert
        var trial = projection.current
        let isKnown = trial.record(final, in: ingestContext(of: .live)).facts.isEmpty
        try await retryUntilStored { () async throws(StoreError) in
            try await self.decide { projection, context in projection.record(final, in: context) }
        }
        return isKnown ? .known : .new
    }

    /// Notes on disk that a person has seen an active alert. Returns the command's answer, which says who was first.
    func acknowledge(_ id: SampleID, by person: String) async -> Answer {
        do throws(StoreError) {
            return try await projection.exclusively { () async throws(StoreError) -> Answer in
                let now = context.clock.now
                var alerts = projection.current.alerts
                guard let level = alerts.acknowledge(id, by: person, at: now), let first = level.acknowledgement else {
                    return .noActiveAlert
                }
                if !projection.current.alerts.levels.contains(level) {
                    _ = try await projection.commit(receivedAt: now) { projection, _ in
                        var outcome = IngestOutcome()
                        outcome.levels = [projection.alerts.acknowledge(id, by: person, at: now)].compactMap(\.self)
                        return outcome
                    }
                }
                let message = first.person == person ? nil : "\(first.person) has acknowledged it before."
                return Answer(.done, message: message, data: .acknowledged(first))
            }
        } catch {
            context.logger.error("An acknowledgement cannot be stored.", metadata: ["error": "\(error)"])
            return Answer(
                .failed, code: .deviceError, message: "The acknowledgement cannot be stored: see the gateway's log.")
        }
    }

    /// Stores what the device recorded that it warned of, and reports to the device what became of it.
    func storeWarnings(
        _ warnings: [DeviceAlert], _ receipts: [SampleReceipt], from device: any DeviceSession
    ) async throws {
        try await settle(receipts, try await store(warnings: warnings), to: device)
    }

    private func settle(
        _ receipts: [SampleReceipt], _ outcomes: [SettledReceipt.Outcome], to device: any DeviceSession
    ) async throws {
        let settled = zip(receipts, outcomes).map { SettledReceipt($0, $1) }
        if !settled.isEmpty { try await device.settle(settled) }
    }

    private func store(warnings: [DeviceAlert]) async throws(StoreError) -> [SettledReceipt.Outcome] {
        let refusals = warnings.map { refusal(of: $0) }
        let accepted = zip(warnings, refusals).filter { $0.1 == nil }.map { $0.0 }
        var repeated: Set<Int> = []
        if !accepted.isEmpty {
            let result = try await retryUntilStored { () async throws(StoreError) in
                try await self.decide { projection, context in projection.record(warnings: accepted, in: context) }
            }
            repeated = result.repeatedFacts
        }
        var place = 0
        var outcomes: [SettledReceipt.Outcome] = []
        for refusal in refusals {
            if let refusal {
                outcomes.append(.refused(refusal))
                continue
            }
            outcomes.append(repeated.contains(place) ? .known : .new)
            place += 1
        }
        return outcomes
    }

    /// Why a warning is not stored, which is counted; `nil` if it is.
    private func refusal(of warning: DeviceAlert) -> DeviceError? {
        if let capabilities = profile.capabilities, !warning.rule.isOffered(by: capabilities) {
            skip(SkippedValues(reason: "undeclared", what: "alerts of \(warning.rule.name)", count: 1))
            return Self.undeclared
        }
        guard warning.rule.warning != nil, warning.edge == .raised, SampleLimits.moments.contains(warning.at) else {
            return refuse(warning, .malformed, "This is no warning: it is never cleared, and has a time.")
        }
        // Unlike an alert it keeps its time, by which it is known when it comes again.
        guard warning.at <= context.clock.now + SyncPolicy.futureTolerance else {
            return refuse(warning, .future, "The warning lies in the future; set the device's clock.")
        }
        guard !input.erasures.cover(warning.at, user: nil) else {
            skipErased(1, "alerts of \(warning.rule.name)")
            return Self.tooOld
        }
        return nil
    }

    /// Counts an alert that is not stored.
    private func refuse(_ alert: DeviceAlert, _ reason: RefusalReason, _ message: String) -> DeviceError {
        skip(SkippedValues(reason: reason.rawValue, what: "alerts of \(alert.rule.name)", count: 1))
        return DeviceError(.invalid, message)
    }

    /// Counts invalid input of the device.
    func ignore(_ problem: String) {
        input.skip(RefusalReason.malformed.rawValue)
        log(1, .malformed, "input", problem: problem)
    }

    /// Counts values that are dropped.
    func skip(_ values: SkippedValues) {
        guard values.count > 0 else { return }
        input.skip(values.reason, count: values.count)
        log(values)
    }

    /// Logs records of the history that are refused. Their synchronisation counts them.
    func logRefused(_ count: Int, of metric: Metric) {
        log(count, .malformed, "records of \(metric.rawValue)")
    }

    private func log(_ count: Int, _ reason: RefusalReason, _ what: String, problem: String? = nil) {
        let values = SkippedValues(reason: reason.rawValue, what: what, count: count)
        log(values, problem: problem)
    }

    /// Nothing that a device sent is dropped without a trace in the log, and none fills it: the number is logged when it has doubled.
    private func log(_ values: SkippedValues, problem: String? = nil) {
        guard let total = input.total(of: "\(values.reason) \(values.what)", adding: values.count) else { return }
        var metadata: Logger.Metadata = [
            "reason": "\(values.reason)", "what": "\(values.what)", "count": "\(total)",
        ]
        if let limit = values.limit { metadata["limit"] = "\(limit)" }
        if let problem { metadata["problem"] = "\(problem)" }
        context.logger.notice("Values of the device were dropped.", metadata: metadata)
    }

    /// Values that were dropped since the start, by reason, but for the records that a synchronisation counts.
    var skipped: [String: Int] { input.skipped }

    // MARK: - Storing

    /// Stores samples that exist nowhere else, with all their consequences: waits for a store that cannot take them, and
    /// meanwhile holds the device back.
    private func store(_ samples: [Sample], source: SampleSource) async throws(StoreError) {
        warnOfUndeclared(samples)
        try await retryUntilStored { () async throws(StoreError) in
            try await self.commit(samples, source: source)
        }
    }

    /// Stores samples of the history with all their consequences, the new cursor of their metric, and the gap for refused
    /// records that the cursor passes, all in one transaction.
    func store(
        _ samples: [Sample], of metric: Metric, cursor: Timestamp?, gap: Gap?
    ) async throws(StoreError) -> IngestResult {
        let taken = withoutErased(samples)
        warnOfUndeclared(taken)
        return try await commit(taken, source: .sync, cursors: cursor.map { [metric: $0] } ?? [:], gap: gap)
    }

    /// Warns once per metric that is missing from the device's capabilities: its samples are stored, since none may be lost, but it
    /// has no entity and no setting.
    private func warnOfUndeclared(_ samples: [Sample]) {
        guard let capabilities = profile.capabilities else { return }
        for sample in samples where input.isNewlyUndeclared(sample.metric, capabilities: capabilities) {
            context.logger.warning(
                "The device sends a metric that is not among its capabilities; its samples are stored.",
                metadata: ["metric": "\(sample.metric.rawValue)"])
        }
    }

    /// Lets the projection decide something without samples, in its own transaction.
    @discardableResult
    func decide(
        _ decision: @escaping @Sendable (inout SampleProjection, IngestContext) -> IngestOutcome
    ) async throws(StoreError) -> IngestResult {
        try await projection.exclusively { () async throws(StoreError) in
            let ingest = ingestContext(of: .live)
            return try await projection.commit(receivedAt: ingest.now) { projection, _ in
                decision(&projection, ingest)
            }
        }
    }

    /// Whether these limits are not applied to the alert levels yet.
    func isBehind(_ limits: MonitorSettings, before: MonitorSettings) -> Bool {
        projection.current.alerts.isBehind(limits, before: before)
    }

    /// Stores a twin and, in the same commit, the effects of its limits: clears alerts whose limits were removed, and
    /// gives rules with new limits a level.
    func store(
        _ twin: TwinState, limits: MonitorSettings, before: MonitorSettings
    ) async throws(StoreError) {
        guard isBehind(limits, before: before) else {
            return try await context.store.save([.twin(twin)], of: context.id)
        }
        try await decide { projection, context in
            var outcome = projection.record(limitsOf: limits, before: before, in: context)
            outcome.changes = [.twin(twin)]
            return outcome
        }
    }

    private func commit(
        _ samples: [Sample], source: SampleSource, cursors: [Metric: Timestamp] = [:], gap: Gap? = nil,
        waitsForBatch: Bool = false
    ) async throws(StoreError) -> IngestResult {
        let (result, asks) = try await projection.exclusively {
            () async throws(StoreError) -> (IngestResult, Bool) in
            projection.beginDayIfDue()
            let samples = try await attributed(samples)
            let ingest = ingestContext(of: source)
            let before = projection.current.latest
            let result = try await projection.commit(
                samples, receivedAt: ingest.now, cursors: cursors, waitsForBatch: waitsForBatch
            ) { projection, outcomes in
                var outcome = projection.record(outcomes, in: ingest)
                if let gap { outcome.facts.append((.alert, .gap(gap))) }
                return outcome
            }
            newest.change(from: before, to: projection.current.latest, isSync: source == .sync)
            if source != .sync { publishLatest() }
            return (result, samples.contains { if case .asked = $0.whose { true } else { false } })
        }
        if asks { try await publishWhose() }
        return result
    }

    /// Retries until the store has taken data that exists nowhere else, or the session ends.
    @discardableResult
    private func retryUntilStored<Result>(
        _ body: () async throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        var failures = RepeatedNotice()
        while true {
            do throws(StoreError) { return try await body() } catch {
                guard !Task.isCancelled else { throw error }
                if failures.isDue("\(error)", at: context.clock.uptime) {
                    context.logger.error(
                        "Samples cannot be stored; trying again.",
                        metadata: ["error": "\(error)", "failures": "\(failures.count)"])
                }
                do { try await context.clock.sleep(for: Self.storeRetry) } catch {
                    throw StoreError(.closed, "\(error)")
                }
                onHeldBack()
            }
        }
    }

    /// A device that measures on demand was put on for it and counts as worn, also if it reported otherwise before.
    func ingestContext(of source: SampleSource) -> IngestContext {
        let policy = context.policy
        return IngestContext(
            source: source, now: context.clock.now, freshness: policy.freshness, settings: limits,
            policy: policy.alerts, isWorn: wear.isWorn || source == .measure, calendar: policy.calendar,
            wearers: context.wearers)
    }

    // MARK: - Newest values

    /// Publishes newest samples that changed or went stale.
    func publishLatest() {
        for state in newest.update(projection.current.latest, at: context.clock.now) { context.publish(.latest(state)) }
    }

    /// Publishes what a metric's synchronisation (of all metrics if `nil`) brought, once it has ended.
    func publishSynchronised(_ metric: Metric? = nil) {
        newest.release(metric)
        publishLatest()
    }

    /// Whether refused samples are not reported yet.
    var hasRefused: Bool { input.hasRefused }

    /// When the next value goes stale.
    var nextExpiry: Timestamp? { newest.nextExpiry }
}

/// A receipt whose sample was refused, or goes to the store.
struct CheckedReceipt {
    var receipt: SampleReceipt
    /// Why the sample does not go to the store.
    var refusal: DeviceError?
    /// The sample's place among those that go to the store.
    var place: Int

    /// What to report to the device once the store has the samples.
    /// - Parameter novelties: what the store found, for each sample that went there.
    func settled(by novelties: [SampleOutcome.Novelty]) -> SettledReceipt {
        if let refusal { return SettledReceipt(receipt, .refused(refusal)) }
        guard novelties.indices.contains(place) else { return SettledReceipt(receipt, .known) }
        return switch novelties[place] {
        case .new: SettledReceipt(receipt, .new)
        case .corrected: SettledReceipt(receipt, .corrected)
        case .withdrawn: SettledReceipt(receipt, .superseded)
        case .known: SettledReceipt(receipt, .known)
        }
    }
}
