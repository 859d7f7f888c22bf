package import Vitals

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
