import Concurrency
import GatewayKit
import Logging
import Vitals

/// Keeps the running day of each metric, and summarises past days.
final class DailySummaryTracker {
    private let context: DeviceContext
    private let profile: DeviceProfile
    private let projection: SharedProjection
    private var machine = DayMachine()
    /// Failures in a row to summarise days.
    private var failures = RepeatedNotice()

    init(context: DeviceContext, profile: DeviceProfile, projection: SharedProjection) {
        self.context = context
        self.profile = profile
        self.projection = projection
    }

    /// Reads the running day's samples and published summaries at the start. A metric without samples today is
    /// published as well: the broker may still have the day on which the gateway ended.
    func restore() async throws(StoreError) {
        let today = projection.current.today.day
        var known = Set(projection.current.latest.keys.filter(\.hasHistory)).union(
            projection.unsettled.map(\.metric))
        // A metric that a device reports only as summaries has no newest sample.
        for metric in profile.capabilities?.metrics(with: .summary) ?? [] where !known.contains(metric) {
            let days = try await context.store.days(of: context.id, metric: metric, in: .earliest...today, limit: 1)
            if !days.isEmpty { known.insert(metric) }
        }
        projection.followExerciseMaximum()
        projection.announceToday(known)
        machine = DayMachine()
        for metric in projection.metrics(on: today).sorted(by: { $0.rawValue < $1.rawValue }) {
            try await rebuildToday(metric)
            let stored = try await context.store.days(of: context.id, metric: metric, in: today...today, limit: 1)
            machine.restore(stored.first, of: metric)
        }
    }

    // MARK: - Today

    /// Reads corrected metrics again, and publishes the running day of the metrics that changed.
    func refreshToday() async throws(StoreError) {
        try await projection.exclusively { () async throws(StoreError) in
            projection.beginDayIfDue()
            projection.followExerciseMaximum()
            for metric in Metric.allCases where projection.current.today.outdated.contains(metric) {
                try await rebuildToday(metric)
            }
        }
        publishToday()
    }

    /// Publishes the running day of the metrics that changed, except those that have to be read from the store first.
    func publishToday() {
        let now = context.clock.now
        for metric in projection.takeChangedToday() {
            context.publish(.today(machine.record(of: projection.current.today.summary(of: metric), at: now)))
        }
    }

    /// The running day of a metric, read again first if samples were corrected or withdrawn; `nil` if nothing is known
    /// of it.
    func today(of metric: Metric) async throws(StoreError) -> DayRecord? {
        if projection.current.today.outdated.contains(metric) { try await refreshToday() }
        let today = projection.current.today
        guard today.known.contains(metric) || machine.hasDeviceSummary(metric, on: today.day) else { return nil }
        return machine.record(of: today.summary(of: metric), at: context.clock.now)
    }

    /// Whether something is to be done that could not be done yet.
    var isBehind: Bool {
        failures.count > 0 || !projection.current.today.outdated.isEmpty
            || projection.unsettled.contains { $0.day < projection.current.today.day }
    }

    /// When the running day ends.
    var end: Timestamp { context.policy.calendar.bounds(of: day).upperBound }

    /// The running local day.
    var day: LocalDay { projection.current.today.day }

    /// Notes that a metric was read over a range. If the range covers today, the metric has a running day from now on.
    func markRead(_ metric: Metric, from: Timestamp, to: Timestamp?) async {
        let now = context.clock.now
        // The end of a range up to now lies slightly in the past once it has been read.
        guard from <= context.policy.calendar.bounds(of: context.today).lowerBound,
            to.map({ $0 > now - SyncPolicy.futureTolerance }) ?? true
        else { return }
        await projection.exclusively { projection.markRead(metric) }
    }

    private func rebuildToday(_ metric: Metric) async throws(StoreError) {
        let day = MetricDay(metric, projection.current.today.day)
        projection.replaceToday(metric, with: try await reader.tally(of: day))
    }

    // MARK: - Past days

    /// Refreshes the running day and, with `settlesPast`, settles past days.
    func refreshDays(settlesPast: Bool) async {
        do throws(StoreError) {
            try await refreshToday()
            if settlesPast { try await settle() }
            failures = RepeatedNotice()
        } catch {
            if failures.isDue("\(error)", at: context.clock.uptime) {
                context.logger.error(
                    "The days cannot be summarised; trying again.",
                    metadata: ["error": "\(error)", "failures": "\(failures.count)"])
            }
        }
    }

    /// Settles past days that have samples missing from their summaries.
    private func settle() async throws(StoreError) {
        for metricDay in DayMachine.due(projection.unsettled, today: context.today) {
            // Exclusively, so that no sample comes between reading the day and settling it.
            try await projection.exclusively { () async throws(StoreError) in
                // Dependent days first: a day that is settled loses its mark, so a crash in between would forget them.
                for workoutDay in try await reader.workoutDays(of: metricDay) {
                    try await settle(MetricDay(.sport, workoutDay))
                }
                let partner = try await reader.restingPartner(of: metricDay, capabilities: profile.capabilities)
                if let partner { try await settle(partner) }
                try await settle(metricDay)
                projection.markSettled(metricDay)
            }
        }
    }

    private func settle(_ metricDay: MetricDay) async throws(StoreError) {
        let summary = try await reader.summary(of: metricDay)
        _ = try await context.store.settle(summary, of: context.id, isFinal: true, at: context.clock.now)
    }

    /// Reads days from the store, with the current zones.
    var reader: DayReader { DayReader(context: context, exerciseMaximum: projection.exerciseMaximum) }

    // MARK: - The device's own summaries

    /// Stores the device's own summary of a day.
    func storeOwn(_ summary: DailySummary) async throws(StoreError) {
        if try await context.store.storeDeviceSummary(summary, of: context.id, at: context.clock.now) {
            projection.markUnsettled(MetricDay(summary.metric, summary.day))
        }
        guard summary.day == context.today, machine.recordDeviceSummary(summary) else { return }
        await projection.exclusively { projection.announceToday([summary.metric]) }
    }
}
