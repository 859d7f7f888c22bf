extension Metric {
    /// The other metric whose resting items a day of this one lists: devices report resting heart rates as heart rates
    /// of kind `resting`, as the metric of its own, or as both.
    package var restingPartner: Metric? { restOf ?? Metric.synchronised.first { $0.restOf == self } }
}

extension DailySummary {
    /// The resting items of the day.
    package var resting: [StoredSample] { if case .values(let extremes) = details { extremes.resting } else { [] } }

    /// Adds the resting items of the partner metric, so that the days of both list the same items. If both have one for
    /// the same time, it is listed once, as a heart rate.
    package mutating func addResting(_ others: [StoredSample]) {
        guard case .values(var extremes) = details, !others.isEmpty else { return }
        var (items, rest) = metric.restOf == nil ? (extremes.resting, others) : (others, extremes.resting)
        rest.removeAll { item in
            items.contains {
                ($0.sample.start, $0.sample.end, $0.sample.value) == (
                    item.sample.start, item.sample.end, item.sample.value
                )
            }
        }
        for item in rest { items.insertInOrder(item, newest: DailyAccumulator.restingLimit) }
        extremes.resting = items
        details = .values(extremes)
    }
}
