/// A device may report one sleep twice, with two ends: read during the night and again in the morning. As the end is
/// part of a record's id, both would count.
extension SampleKey {
    /// Whether both records, of the same device, metric and person, describe the same thing, so that only one counts:
    /// sleeps and workouts that overlap or start together, and steps that start together.
    package func excludes(_ other: SampleKey, of metric: Metric) -> Bool {
        guard metric.isInterval, self != other else { return false }
        if start == other.start { return true }
        return metric.shape != .count && start < other.end && other.start < end
    }

    /// Which of two such records counts: the one that ends later, then the one that starts earlier, then the one that a
    /// person started. The order of arrival does not matter, so the result is always the same.
    package func prevails(over other: SampleKey) -> Bool {
        if end != other.end { return end > other.end }
        if start != other.start { return start < other.start }
        return isUserInitiated && !other.isUserInitiated
    }
}
