package import Vitals

/// The running local day of a device: one accumulator per metric, so that a sample costs the same at noon and at night.
package struct RunningDay: Sendable {
    package private(set) var day: LocalDay
    private var accumulators: [Metric: DailyAccumulator] = [:]
    /// Metrics that ever had samples: what stands of them is about this day, also while it has none.
    private var known: Set<Metric> = []
    /// Metrics that have to be read from the store again: samples were corrected, and what was added cannot be taken back,
    /// or the day had samples before it began.
    package private(set) var outdated: Set<Metric> = []
    /// Metrics that changed since they were last published.
    package private(set) var changed: Set<Metric> = []

    package init(day: LocalDay) { self.day = day }

    package mutating func add(_ outcome: SampleOutcome) {
        let metric = outcome.stored.sample.metric
        changed.insert(metric)
        known.insert(metric)
        switch outcome.novelty {
        case .new:
            accumulators[metric, default: DailyAccumulator(metric: metric, day: day)].add(outcome.stored)
        case .corrected: outdated.insert(metric)
        case .known: break
        }
    }

    /// Replaces a metric's accumulator by one over all samples that the store has of the day.
    package mutating func replace(_ metric: Metric, with accumulator: DailyAccumulator) {
        accumulators[metric] = accumulator.summary.count > 0 ? accumulator : nil
        outdated.remove(metric)
        changed.insert(metric)
        known.insert(metric)
    }

    /// An older day may stand of these metrics, or what the device says of the day has changed: they are published, with or
    /// without samples.
    package mutating func announce(_ metrics: Set<Metric>) {
        known.formUnion(metrics)
        changed.formUnion(metrics)
    }

    /// The summary of a metric, empty where the day has no sample yet.
    package func summary(of metric: Metric) -> DailySummary {
        (accumulators[metric] ?? DailyAccumulator(metric: metric, day: day)).summary
    }

    /// The metrics that have samples today.
    package var metrics: [Metric] { Metric.allCases.filter { accumulators[$0] != nil } }

    /// What is published counts as published; what is outdated could not be.
    package mutating func published() { changed.formIntersection(outdated) }

    /// A new day has begun: every metric that ever had one begins at zero, but for what the store has of the day already.
    package mutating func begin(_ day: LocalDay, outdated: Set<Metric> = []) {
        let known = known
        self = RunningDay(day: day)
        self.outdated = outdated
        announce(known)
    }
}
