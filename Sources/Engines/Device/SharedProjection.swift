import Concurrency
import GatewayKit
import Synchronization
import Vitals

/// The device's projection, which samples and days both change: one change at a time, each based on the one before.
final class SharedProjection {
    private(set) var current: SampleProjection
    /// Days with samples missing from their summaries.
    private(set) var unsettled: Set<MetricDay> = []
    /// The highest heart rate in exercise, in bpm, which defines the zones; `nil` if unknown.
    var exerciseMaximum: Double?
    /// Which of the device's records counts where two of them overlap.
    var overlaps = OverlapRule.latestEnd
    /// Whether the published state has a sample that waits for its person.
    var hasQuestions = false
    private let context: DeviceContext
    private let turn = AsyncMutex()

    init(context: DeviceContext) {
        self.context = context
        current = SampleProjection(device: context.id, today: RunningDay(day: context.today))
    }

    /// Restores the projection from the store.
    func restore(from record: DeviceRecord) {
        unsettled = record.unsettledDays
        current = SampleProjection(
            device: context.id, latest: record.latest, highWater: record.highWater, levels: record.levels,
            today: RunningDay(day: context.today))
        current.marked = unsettled
    }

    /// Runs `body` while nothing else changes the projection.
    func exclusively<Result, Failure: Error>(
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await turn.withLock(body)
    }

    /// Stores samples with what `decide` derives from them, and adopts the projection that it leaves. Call only in
    /// `exclusively`.
    func commit(
        _ samples: [Sample] = [], moves: [SampleMove] = [], receivedAt now: Timestamp,
        cursors: [Metric: Timestamp] = [:],
        waitsForBatch: Bool = false,
        decide: @escaping @Sendable (inout SampleProjection, [SampleOutcome]) -> IngestOutcome
    ) async throws(StoreError) -> IngestResult {
        let projection = current
        // The store may ask twice; the last decision is the stored one.
        let decided = Mutex((projection: projection, outcome: IngestOutcome()))
        var ingest = Ingest(
            device: context.id, wearers: context.wearers, samples: samples, overlaps: overlaps, receivedAt: now,
            cursors: cursors, waitsForBatch: waitsForBatch
        ) { outcomes in
            var next = projection
            let outcome = decide(&next, outcomes)
            decided.withLock { $0 = (next, outcome) }
            return outcome
        }
        ingest.moves = moves
        let result = try await context.store.ingest(ingest)
        let (next, outcome) = decided.withLock { $0 }
        current = next
        unsettled.formUnion(outcome.unsettledDays)
        for level in outcome.levels { context.publish(.level(level)) }
        return result
    }

    // MARK: - Days

    /// Begins a new local day if the date has changed: the running counters start at zero.
    func beginDayIfDue() {
        let today = context.today
        guard today != current.today.day else { return }
        current.today.begin(today, outdated: metrics(on: today))
    }

    /// The metrics that may have samples of a beginning or running day: those of its first minutes may have come before
    /// midnight, and after a clock change the day may already have ended and been settled.
    func metrics(on day: LocalDay) -> Set<Metric> {
        let marked = unsettled.union(current.marked).filter { $0.day == day }.map(\.metric)
        let newest = current.latest.filter { context.policy.calendar.day(of: $0.value.sample.end) >= day }.map(\.key)
        return Set(marked).union(newest).filter(\.hasHistory)
    }

    /// Replaces a metric's running day, which was read from the store again.
    func replaceToday(_ metric: Metric, with tally: DayTally) {
        // The day may have been settled under a wrong date, and has to be settled again.
        if tally.summary.count > 0 { unsettled.insert(MetricDay(metric, current.today.day)) }
        current.today.replace(metric, with: tally)
    }

    /// Counts time in zones by the current highest heart rate.
    func followExerciseMaximum() { current.today.follow(exerciseMaximum: exerciseMaximum) }

    /// Marks the running days of these metrics to be published, with or without samples.
    func announceToday(_ metrics: Set<Metric>) { current.today.announce(metrics) }

    /// Gives a metric that was read a running day.
    func markRead(_ metric: Metric) { current.today.markRead(metric) }

    /// The metrics whose running day is to be published now, sorted by name. Marks them as published.
    func takeChangedToday() -> [Metric] {
        defer { current.today.published() }
        return current.today.changed.subtracting(current.today.outdated).sorted { $0.rawValue < $1.rawValue }
    }

    /// Marks a day whose summary lacks something.
    func markUnsettled(_ day: MetricDay) { unsettled.insert(day) }

    /// Marks a day whose summary is complete.
    func markSettled(_ day: MetricDay) {
        unsettled.remove(day)
        current.marked.remove(day)
    }
}
