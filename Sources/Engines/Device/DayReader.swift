import GatewayKit
import Vitals

/// Reads local days from the store.
struct DayReader {
    /// Samples of a day read from the store at once.
    static let page = 5_000
    /// Samples of a day in an answer: as many as a page of `history`, which has the rest.
    static let maximumItems = 500

    /// The most by which a sample's own offset from UTC may differ from that of the configured zone: from -12 to +14 hours.
    private static let widestOffset: Duration = .hours(26)

    let context: DeviceContext
    /// The highest heart rate in exercise, in bpm, which defines the zones; `nil` if unknown.
    let exerciseMaximum: Double?

    /// The range in which a day's samples may begin. A sleep belongs to the day of its end, however early it began.
    func startRange(of metricDay: MetricDay) -> Range<Timestamp> {
        let bounds = context.policy.calendar.bounds(of: metricDay.day)
        let margin: Duration = metricDay.metric.shape == .sleep ? SampleLimits.duration : .zero
        return bounds.lowerBound - margin..<bounds.upperBound
    }

    /// The tally of a day's samples.
    func tally(of metricDay: MetricDay) async throws(StoreError) -> DayTally {
        var tally = DayTally(metric: metricDay.metric, day: metricDay.day, exerciseMaximum: exerciseMaximum)
        var cache = OffsetCache(context.policy.calendar)
        var workouts: [StoredSample] = []
        try await forEach(of: metricDay) { stored in
            guard DailySummary.day(of: stored.sample, in: &cache) == metricDay.day else { return }
            _ = tally.add(stored)
            if metricDay.metric.shape == .session { workouts.append(stored) }
        }
        guard let exerciseMaximum else { return tally }
        for workout in workouts.prefix(DailyAccumulator.workoutLimit) {
            tally.setZones(try await zones(of: workout.sample, maximum: exerciseMaximum), of: workout.id)
        }
        return tally
    }

    /// The summary of a day, including the resting items of its partner metric.
    func summary(of metricDay: MetricDay) async throws(StoreError) -> DailySummary {
        var summary = try await tally(of: metricDay).summary
        if let partner = metricDay.metric.restingPartner {
            summary.addResting(try await tally(of: MetricDay(partner, metricDay.day)).summary.resting)
        }
        return summary
    }

    /// The same day of the partner metric, which lists the resting items of both: if stored, or if this day has resting
    /// items and the device has the partner, even without samples of the partner.
    func restingPartner(
        of metricDay: MetricDay, capabilities: Capabilities?
    ) async throws(StoreError) -> MetricDay? {
        guard let partner = metricDay.metric.restingPartner else { return nil }
        let days = try await context.store.days(
            of: context.id, metric: partner, in: metricDay.day...metricDay.day, limit: 1)
        if days.isEmpty {
            guard capabilities?.supports(partner) == true else { return nil }
            guard try await !tally(of: metricDay).summary.resting.isEmpty else { return nil }
        }
        return MetricDay(partner, metricDay.day)
    }

    /// The time in zones within a workout, from the stored heart rates of the same person.
    private func zones(of workout: Sample, maximum: Double) async throws(StoreError) -> HeartRateZones {
        var tally = ZoneTally(maximum: maximum)
        try await forEach(.heartRate, starting: workout.start..<workout.end) { stored in
            if context.wearers.areSame(stored.sample.user, workout.user) { _ = tally.add(stored.sample) }
        }
        tally.end(at: workout.end)
        return tally.zones
    }

    /// The days of the workouts that overlap a day of heart rates, if zones are counted.
    func workoutDays(of metricDay: MetricDay) async throws(StoreError) -> [LocalDay] {
        guard metricDay.metric.distinguishesExercise, exerciseMaximum != nil else { return [] }
        let calendar = context.policy.calendar
        let bounds = calendar.bounds(of: metricDay.day)
        var days: Set<LocalDay> = []
        try await forEach(.sport, starting: bounds.lowerBound - SampleLimits.duration..<bounds.upperBound) { stored in
            if stored.sample.end > bounds.lowerBound { days.insert(DailySummary.day(of: stored.sample, in: calendar)) }
        }
        return days.sorted()
    }

    /// The first samples of a day, and whether these are all.
    func items(of metricDay: MetricDay) async throws(StoreError) -> (samples: [StoredSample], isWhole: Bool) {
        var cache = OffsetCache(context.policy.calendar)
        let limit = Self.maximumItems + 1
        var items: [StoredSample] = []
        for part in parts(of: metricDay) where items.count < limit {
            var after: SampleKey?
            repeat {
                let page = try await page(metricDay.metric, part, after: after, limit: limit)
                items += page.filter { DailySummary.day(of: $0.sample, in: &cache) == metricDay.day }
                after = page.count == limit ? page.last.map { SampleKey($0.sample) } : nil
            } while after != nil && items.count < limit
        }
        return (Array(items.prefix(Self.maximumItems)), items.count < limit)
    }

    /// Where samples of a day may be: those that say their own offset also beside the day in the configured zone.
    private func parts(of metricDay: MetricDay) -> [(range: Range<Timestamp>, withOffset: Bool)] {
        let range = startRange(of: metricDay)
        return [
            (range.lowerBound - Self.widestOffset..<range.lowerBound, true), (range, false),
            (range.upperBound..<range.upperBound + Self.widestOffset, true),
        ]
    }

    private func page(
        _ metric: Metric, _ part: (range: Range<Timestamp>, withOffset: Bool), after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        part.withOffset
            ? try await context.store.samplesWithOffset(
                of: context.id, metric: metric, starting: part.range, after: after, limit: limit)
            : try await context.store.samples(
                of: context.id, metric: metric, starting: part.range, after: after, limit: limit)
    }

    /// Iterates over the samples that may be of a day, in order of time.
    private func forEach(
        of metricDay: MetricDay, _ body: (StoredSample) -> Void
    ) async throws(StoreError) {
        for part in parts(of: metricDay) { try await forEach(metricDay.metric, in: part, body) }
    }

    /// Iterates over a metric's samples in order of time.
    private func forEach(
        _ metric: Metric, starting range: Range<Timestamp>, _ body: (StoredSample) -> Void
    ) async throws(StoreError) {
        try await forEach(metric, in: (range, false), body)
    }

    private func forEach(
        _ metric: Metric, in part: (range: Range<Timestamp>, withOffset: Bool), _ body: (StoredSample) -> Void
    ) async throws(StoreError) {
        guard !part.range.isEmpty else { return }
        var after: SampleKey?
        while true {
            let samples = try await page(metric, part, after: after, limit: Self.page)
            for stored in samples { body(stored) }
            guard samples.count == Self.page, let last = samples.last else { return }
            after = SampleKey(last.sample)
        }
    }
}
