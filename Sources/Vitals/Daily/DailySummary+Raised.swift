extension DailySummary {
    /// This summary of a running day, with no counter lower than published before: consumers take a falling counter for
    /// the start of a new day. Means, extremes, resting items, workouts and zones stay as they are.
    ///
    /// Each counter keeps its own maximum, so that parts need not add up to their total after a correction. A previous
    /// summary of another metric or day changes nothing.
    public func raised(over previous: DailySummary) -> DailySummary {
        guard metric == previous.metric, day == previous.day else { return self }
        var result = self
        // Manual and automatic samples are counters, too, and `count` is their sum.
        result.manualCount = max(manualCount, previous.manualCount)
        result.count = result.manualCount + max(automaticCount, previous.automaticCount)
        result.details = details.raised(over: previous.details)
        return result
    }
}

extension DailySummary.Details {
    fileprivate func raised(over previous: Self) -> Self {
        switch (self, previous) {
        case (.steps(let count, let distance, let energy), .steps(let oldCount, let oldDistance, let oldEnergy)):
            .steps(
                count: max(count, oldCount), distance: larger(distance, oldDistance), energy: larger(energy, oldEnergy))
        case (.sleep(let totals), .sleep(let old)):
            .sleep(
                DailySummary.SleepTotals(
                    asleep: max(totals.asleep, old.asleep), deep: max(totals.deep, old.deep),
                    light: max(totals.light, old.light), rem: max(totals.rem, old.rem),
                    awake: max(totals.awake, old.awake), start: totals.start ?? old.start, end: totals.end ?? old.end))
        case (.sport(let totals), .sport(let old)):
            .sport(
                DailySummary.SportTotals(
                    minutes: max(totals.minutes, old.minutes), sessions: max(totals.sessions, old.sessions),
                    distance: larger(totals.distance, old.distance), energy: larger(totals.energy, old.energy),
                    workouts: totals.workouts))
        default: self
        }
    }
}

/// The larger of two counters; an unknown one is ignored.
private func larger(_ a: Double?, _ b: Double?) -> Double? {
    guard let a, let b else { return a ?? b }
    return max(a, b)
}
