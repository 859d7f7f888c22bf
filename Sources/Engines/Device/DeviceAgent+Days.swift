import GatewayKit
import Vitals

extension DeviceAgent {
    /// How many samples of a day are read from the store at once.
    static let dayPage = 5_000

    /// Begins a new local day where one has begun: the running counters start at zero.
    func beginDayIfDue() {
        let today = policy.calendar.day(of: clock.now)
        guard today != ledger.today.day else { return }
        let isForward = today > ledger.today.day
        // Samples of the first minutes may have come before midnight. After a jump of the clock back the day may have
        // samples of any metric.
        let known = isForward ? Set(ledger.marked.filter { $0.day == today }.map(\.metric)) : Set(Metric.allCases)
        ledger.today.begin(today, outdated: known.subtracting([.battery]))
    }

    /// Reads a metric's running day from the store again.
    func rebuildToday(_ metric: Metric) async throws(StoreError) {
        let day = ledger.today.day
        ledger.today.replace(metric, with: try await accumulate(MetricDay(metric, day)))
    }

    /// Summarises the days that have samples which are not in their summary yet.
    func settleDays() async throws(StoreError) {
        let today = policy.calendar.day(of: clock.now)
        for metricDay in unsettled.sorted(by: { ($0.day, $0.metric.rawValue) < ($1.day, $1.metric.rawValue) })
        where metricDay.day < today {
            // Alone, so that no sample comes between reading the day and settling it.
            try await intakeGate.alone { () async throws(StoreError) in
                let summary = try await accumulate(metricDay).summary
                _ = try await store.settle(summary, of: id, isFinal: true, at: clock.now)
                unsettled.remove(metricDay)
                ledger.marked.remove(metricDay)
            }
        }
    }

    private func accumulate(_ metricDay: MetricDay) async throws(StoreError) -> DailyAccumulator {
        var accumulator = DailyAccumulator(metric: metricDay.metric, day: metricDay.day)
        var cache = OffsetCache(policy.calendar)
        let bounds = policy.calendar.bounds(of: metricDay.day)
        // A sleep counts on the day of its end and began up to two days before.
        let from = metricDay.metric == .sleep ? bounds.lowerBound - .days(2) : bounds.lowerBound
        var after: SampleKey?
        while true {
            let page = try await store.samples(
                of: id, metric: metricDay.metric, starting: from..<bounds.upperBound, after: after,
                limit: Self.dayPage)
            for stored in page where DailySummary.day(of: stored.sample, in: &cache) == metricDay.day {
                accumulator.add(stored)
            }
            guard page.count == Self.dayPage, let last = page.last else { return accumulator }
            after = SampleKey(last.sample)
        }
    }

    /// Publishes the running day of the metrics that changed.
    func publishToday() {
        let now = clock.now
        for metric in ledger.today.changed.sorted(by: { $0.rawValue < $1.rawValue }) {
            let summary = ledger.today.summary(of: metric)
            publish(.today(DayRecord(summary: summary, revision: 1, updatedAt: now, isFinal: false)))
        }
        ledger.today.published()
    }
}
