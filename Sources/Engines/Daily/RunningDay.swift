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

/// One metric's samples of a local day so far: the summary, and the time in zones if the highest heart rate in exercise
/// is known.
package struct DayTally: Sendable {
    private var accumulator: DailyAccumulator
    private var zones: ZoneTally?
    private var workoutZones: [SampleID: HeartRateZones] = [:]

    /// - Parameter exerciseMaximum: the highest heart rate in exercise, in bpm, if known.
    package init(metric: Metric, day: LocalDay, exerciseMaximum: Double? = nil) {
        accumulator = DailyAccumulator(metric: metric, day: day)
        if metric.distinguishesExercise { zones = exerciseMaximum.map { ZoneTally(maximum: $0) } }
    }

    /// Adds a sample of the day. Returns `false` if the sample is not the newest heart rate: its day then has to be
    /// read from the store again for the zones.
    package mutating func add(_ stored: StoredSample) -> Bool {
        accumulator.add(stored)
        return zones?.add(stored.sample) ?? true
    }

    /// Sets the time in zones of one of the day's workouts.
    package mutating func setZones(_ zones: HeartRateZones, of workout: SampleID) { workoutZones[workout] = zones }

    /// The summary of all samples so far.
    package var summary: DailySummary {
        var summary = accumulator.summary
        summary.zones = zones?.zones
        if case .sport(var totals) = summary.details, !workoutZones.isEmpty {
            for index in totals.workouts.indices {
                totals.workouts[index].zones = workoutZones[totals.workouts[index].id]
            }
            summary.details = .sport(totals)
        }
        return summary
    }
}

/// Decides what is published of the running day, and which past days have to be settled.
package struct DayMachine: Sendable {
    /// The device's own summary of the running day, or of an earlier one.
    private var own: [Metric: DailySummary] = [:]

    package init() {}

    /// Restores the device's own summary of the running day from the store.
    package mutating func restore(_ record: DayRecord?, of metric: Metric) { own[metric] = record?.deviceSummary }

    /// The running day of a metric as published and answered.
    package func record(of summary: DailySummary, at now: Timestamp) -> DayRecord {
        let own = own[summary.metric].flatMap { $0.day == summary.day ? $0 : nil }
        return DayRecord(summary: summary, revision: 1, updatedAt: now, isFinal: false, deviceSummary: own)
    }

    /// Takes the device's own summary of the running day. Returns whether it is new.
    package mutating func recordDeviceSummary(_ summary: DailySummary) -> Bool {
        guard own[summary.metric]?.hasSameContent(as: summary) != true else { return false }
        own[summary.metric] = summary
        return true
    }

    /// Whether the device has its own summary of a day.
    package func hasDeviceSummary(_ metric: Metric, on day: LocalDay) -> Bool { own[metric]?.day == day }

    /// The past days that have to be summarised, in order.
    package static func due(_ unsettled: Set<MetricDay>, today: LocalDay) -> [MetricDay] {
        unsettled.filter { $0.day < today }.sorted { ($0.day, $0.metric.rawValue) < ($1.day, $1.metric.rawValue) }
    }
}
