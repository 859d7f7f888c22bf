import GatewayKit
import Vitals

extension DeviceAgent {
    /// How many samples of a day are read from the store at once.
    static let dayPage = 5_000

    /// Begins a new local day where one has begun: the running counters start at zero.
    func beginDayIfDue() {
        let today = policy.calendar.day(of: clock.now)
        guard today != ledger.today.day else { return }
        ledger.today.begin(today, outdated: metrics(on: today))
    }

    /// The metrics that may have samples of a day that begins now, or runs: those of the first minutes may have come before
    /// midnight, and after the clock was set the day may have been over already, and be settled.
    private func metrics(on day: LocalDay) -> Set<Metric> {
        let marked = unsettled.union(ledger.marked).filter { $0.day == day }.map(\.metric)
        let newest = ledger.latest.filter { policy.calendar.day(of: $0.value.sample.end) >= day }.map(\.key)
        return Set(marked).union(newest).subtracting([.battery])
    }

    /// Reads a metric's running day from the store again. It may have been settled by a wrong date, and will be once more.
    func rebuildToday(_ metric: Metric) async throws(StoreError) {
        let day = MetricDay(metric, ledger.today.day)
        let accumulator = try await accumulate(day)
        if accumulator.summary.count > 0 { unsettled.insert(day) }
        ledger.today.replace(metric, with: accumulator)
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

    /// Where a device is asked for the samples of local days: from the days' bounds. A sleep counts on the day of its end, and
    /// hardly any begins more than two days before.
    func starts(of metric: Metric, on days: ClosedRange<LocalDay>) -> Range<Timestamp> {
        let begin = policy.calendar.bounds(of: days.lowerBound).lowerBound
        let end = policy.calendar.bounds(of: days.upperBound).upperBound
        return (metric == .sleep ? begin - .days(2) : begin)..<end
    }

    private func accumulate(_ metricDay: MetricDay) async throws(StoreError) -> DailyAccumulator {
        var accumulator = DailyAccumulator(metric: metricDay.metric, day: metricDay.day)
        var cache = OffsetCache(policy.calendar)
        let bounds = policy.calendar.bounds(of: metricDay.day)
        // A sleep counts on the day of its end, however early it may have begun.
        let longest: Duration = metricDay.metric == .sleep ? SampleLimits.duration : .zero
        let range = bounds.lowerBound - longest..<bounds.upperBound
        var after: SampleKey?
        while true {
            let page = try await store.samples(
                of: id, metric: metricDay.metric, starting: range, after: after, limit: Self.dayPage)
            for stored in page where DailySummary.day(of: stored.sample, in: &cache) == metricDay.day {
                accumulator.add(stored)
            }
            guard page.count == Self.dayPage, let last = page.last else { return accumulator }
            after = SampleKey(last.sample)
        }
    }

    /// Reads again what was corrected, and publishes the running day of the metrics that changed.
    func refreshToday() async throws(StoreError) {
        try await intakeGate.alone { () async throws(StoreError) in
            beginDayIfDue()
            for metric in Metric.allCases where ledger.today.outdated.contains(metric) {
                try await rebuildToday(metric)
            }
        }
        publishToday()
        try await keepRaised()
    }

    /// Publishes the running day of the metrics that changed, but for those that have to be read from the store first.
    func publishToday() {
        let now = clock.now
        let changed = ledger.today.changed.subtracting(ledger.today.outdated)
        for metric in changed.sorted(by: { $0.rawValue < $1.rawValue }) {
            let record = recordOfToday(metric, at: now)
            publishedToday[metric] = record.summary
            publish(.today(record))
        }
        ledger.today.published()
    }

    /// The running day of a metric as it is published and answered.
    func recordOfToday(_ metric: Metric, at now: Timestamp) -> DayRecord {
        let summary = summaryOfToday(metric)
        let own = deviceToday[metric].flatMap { $0.day == summary.day ? $0 : nil }
        return DayRecord(summary: summary, revision: 1, updatedAt: now, isFinal: false, deviceSummary: own)
    }

    /// The running day of a metric, with no counter lower than it was published before.
    private func summaryOfToday(_ metric: Metric) -> DailySummary {
        let summary = ledger.today.summary(of: metric)
        return publishedToday[metric].map { summary.raised(over: $0) } ?? summary
    }

    /// Keeps what was published above the samples' own sum, so that no counter falls over a restart.
    private func keepRaised() async throws(StoreError) {
        for (metric, summary) in publishedToday where summary.day == ledger.today.day && keptToday[metric] != summary {
            guard !ledger.today.outdated.contains(metric), ledger.today.summary(of: metric) != summary else { continue }
            _ = try await store.settle(summary, of: id, isFinal: false, at: clock.now)
            keptToday[metric] = summary
        }
    }

    /// Reads what this day's metrics amount to, and what was published of them, at the start. A day that has none yet is
    /// published as well: the broker may still have the day on which the gateway ended.
    func loadToday() async throws(StoreError) {
        let today = ledger.today.day
        var known = Set(ledger.latest.keys).subtracting([.battery]).union(unsettled.map(\.metric))
        // What a device only says of its days has no newest sample.
        for metric in info.capabilities?.metrics(with: .summary) ?? [] where !known.contains(metric) {
            let days = try await store.days(of: id, metric: metric, in: .earliest...today, limit: 1)
            if !days.isEmpty { known.insert(metric) }
        }
        ledger.today.announce(known)
        for metric in metrics(on: today).sorted(by: { $0.rawValue < $1.rawValue }) {
            try await rebuildToday(metric)
            let kept = try await store.days(of: id, metric: metric, in: today...today, limit: 1)
            publishedToday[metric] = kept.first?.summary
            deviceToday[metric] = kept.first?.deviceSummary
        }
        keptToday = publishedToday
    }
}
