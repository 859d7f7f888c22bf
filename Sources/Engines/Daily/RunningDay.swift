package import Vitals

/// A device's running local day: one tally per metric, so that adding a sample costs the same at any time of day.
package struct RunningDay: Sendable {
    package private(set) var day: LocalDay
    private var tallies: [Metric: DayTally] = [:]
    /// Metrics that have a running day, even without samples today.
    package private(set) var known: Set<Metric> = []
    /// Metrics that have to be read from the store again, because samples were corrected, which a tally cannot undo, or
    /// because samples came before the day began.
    package private(set) var outdated: Set<Metric> = []
    /// Metrics that changed since they were last published.
    package private(set) var changed: Set<Metric> = []
    /// The highest heart rate in exercise, in bpm, which defines the zones.
    package private(set) var exerciseMaximum: Double?

    package init(day: LocalDay, exerciseMaximum: Double? = nil) {
        self.day = day
        self.exerciseMaximum = exerciseMaximum
    }

    package mutating func add(_ outcome: SampleOutcome) {
        let metric = outcome.stored.sample.metric
        changed.insert(metric)
        known.insert(metric)
        if outcome.novelty != .new || outcome.stored.sample.isResting { markPartnerChanged(of: metric) }
        switch outcome.novelty {
        case .new:
            if !count(outcome.stored) { outdated.insert(metric) }
            // Heart rates during the workout may have come before it.
            if metric.shape == .session, exerciseMaximum != nil { outdated.insert(metric) }
        case .corrected, .withdrawn: outdated.insert(metric)
        case .known: break
        }
    }

    /// Adds a sample to its tally, in place: a tally is large. Returns `false` if the day has to be read from the store again.
    private mutating func count(_ stored: StoredSample) -> Bool {
        let metric = stored.sample.metric
        if let isCounted = tallies[metric]?.add(stored) { return isCounted }
        var tally = tally(of: metric)
        let isCounted = tally.add(stored)
        tallies[metric] = tally
        return isCounted
    }

    /// An empty tally.
    package func tally(of metric: Metric) -> DayTally {
        DayTally(metric: metric, day: day, exerciseMaximum: exerciseMaximum)
    }

    /// Uses this heart rate for zones from now on. Metrics counted with another one have to be read again.
    package mutating func follow(exerciseMaximum: Double?) {
        guard exerciseMaximum != self.exerciseMaximum else { return }
        self.exerciseMaximum = exerciseMaximum
        for metric in [Metric.heartRate, .sport] where tallies[metric] != nil { outdate(metric) }
    }

    /// Marks a metric to be read from the store again.
    package mutating func outdate(_ metric: Metric) {
        outdated.insert(metric)
        changed.insert(metric)
    }

    /// Replaces a metric's tally by one over all stored samples of the day.
    package mutating func replace(_ metric: Metric, with tally: DayTally) {
        tallies[metric] = tally.summary.count > 0 ? tally : nil
        outdated.remove(metric)
        changed.insert(metric)
        known.insert(metric)
        markPartnerChanged(of: metric)
    }

    /// Marks the partner metric as changed: its day also lists the resting items of this metric.
    private mutating func markPartnerChanged(of metric: Metric) {
        if let partner = metric.restingPartner, known.contains(partner) { changed.insert(partner) }
    }

    /// Marks metrics to be published, with or without samples: an older day may still be published for them, or the
    /// device's own summary has changed.
    package mutating func announce(_ metrics: Set<Metric>) {
        known.formUnion(metrics)
        changed.formUnion(metrics)
    }

    /// Gives a metric that was read a running day, with or without samples.
    package mutating func markRead(_ metric: Metric) {
        if known.insert(metric).inserted { changed.insert(metric) }
    }

    /// The summary of a metric, empty if the day has no sample yet.
    package func summary(of metric: Metric) -> DailySummary {
        var summary = (tallies[metric] ?? tally(of: metric)).summary
        if let partner = metric.restingPartner, let other = tallies[partner] {
            summary.addResting(other.summary.resting)
        }
        return summary
    }

    /// The metrics with samples today.
    package var metrics: [Metric] { Metric.allCases.filter { tallies[$0] != nil } }

    /// Marks all changes as published, except those of outdated metrics.
    package mutating func published() { changed.formIntersection(outdated) }

    /// Begins a new day: all known metrics start at zero. `outdated` names those with samples of the day in the store.
    package mutating func begin(_ day: LocalDay, outdated: Set<Metric> = []) {
        let known = known
        self = RunningDay(day: day, exerciseMaximum: exerciseMaximum)
        self.outdated = outdated
        announce(known)
    }
}
