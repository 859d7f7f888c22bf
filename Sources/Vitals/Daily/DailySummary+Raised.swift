extension DailySummary {
    /// This summary of a running day with no counter lower than it was published before: consumers take a counter that
    /// falls for the beginning of a new day. Means, extremes and resting items are taken as they are now.
    ///
    /// Each counter keeps its own maximum, so that after a correction of a running day parts need not add up to their
    /// total. A previous summary of another metric or day changes nothing.
    public func raised(over previous: DailySummary) -> DailySummary {
        guard metric == previous.metric, day == previous.day else { return self }
        var result = self
        // Manual and automatic ones are counters too, and their sum is the count.
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
                    distance: larger(totals.distance, old.distance), energy: larger(totals.energy, old.energy)))
        default: self
        }
    }
}

/// The larger of two counters; one that is not known does not count.
private func larger(_ a: Double?, _ b: Double?) -> Double? {
    guard let a, let b else { return a ?? b }
    return max(a, b)
}
