/// The position of a sample within its device and metric.
package struct SampleKey: Sendable, Hashable, Comparable {
    package var start: Timestamp
    package var end: Timestamp
    package var isUserInitiated: Bool
    /// The number of what its id needs beside its times (`Sample.besideName`): the word of a separating qualifier, or the sample's source
    /// if an earlier one has a value at the same position; else 0 (see `SampleOrigin.number`).
    package var source: Int64

    package init(start: Timestamp, end: Timestamp, isUserInitiated: Bool, source: Int64 = 0) {
        self.start = start
        self.end = end
        self.isUserInitiated = isUserInitiated
        self.source = source
    }

    package init(_ sample: Sample) {
        let source = sample.besideName.map { SampleOrigin.number(of: $0) } ?? 0
        self.init(start: sample.start, end: sample.end, isUserInitiated: sample.isUserInitiated, source: source)
    }

    /// What distinguishes samples with the same times, as one number: whether a person started it, and twice its source.
    package var code: Int64 { source << 1 | (isUserInitiated ? 1 : 0) }

    /// The key with this `code`.
    package init(start: Timestamp, end: Timestamp, code: Int64) {
        self.init(start: start, end: end, isUserInitiated: code & 1 == 1, source: code >> 1)
    }

    package static func < (a: SampleKey, b: SampleKey) -> Bool {
        if a.start != b.start { return a.start < b.start }
        if a.end != b.end { return a.end < b.end }
        return a.code < b.code
    }
}

extension SampleKey {
    /// The name of the page that starts after this sample.
    package var page: String { "\(start.milliseconds).\(end.milliseconds).\(code)" }

    /// The sample named by a page; `nil` if the name is invalid.
    package init?(page: String) {
        let parts = page.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let start = Int64(parts[0]), let end = Int64(parts[1]),
            let code = Int64(parts[2]), code >= 0
        else { return nil }
        self.init(start: Timestamp(milliseconds: start), end: Timestamp(milliseconds: end), code: code)
    }
}

/// A device may report one sleep twice, with two ends: read during the night and again in the morning. As the end is
/// part of a record's id, both would count.
extension SampleKey {
    /// Whether both records, of the same device, metric and person, describe the same thing, so that only one counts:
    /// sleeps and workouts that overlap or start together, and counts that start together.
    package func excludes(_ other: SampleKey, of metric: Metric) -> Bool {
        guard metric.isInterval, self != other, mayEqual(other) else { return false }
        if start == other.start { return true }
        return metric.shape != .count && start < other.end && other.start < end
    }

    /// Whether both records have a time in common, or begin together. Counts of two sources in the same time are the same counts.
    package func overlaps(_ other: SampleKey) -> Bool {
        mayEqual(other) && (start == other.start || start < other.end && other.start < end)
    }

    /// Whether a record that may last so long has a time in common with another one.
    package func reaches(_ other: SampleKey, within length: Duration) -> Bool {
        mayEqual(other) && other.start < start + length && (other.end > start || other.start >= start)
    }

    /// Whether nothing separates both. A count without a word may be of any kind.
    private func mayEqual(_ other: SampleKey) -> Bool { source == other.source || source == 0 || other.source == 0 }

    /// Which of two such records counts: the one that ends later, then the one that starts earlier, then the one that a
    /// person started, then the count with a word. The order of arrival does not matter, so the result is always the same.
    package func prevails(over other: SampleKey) -> Bool {
        if end != other.end { return end > other.end }
        if start != other.start { return start < other.start }
        if isUserInitiated != other.isUserInitiated { return isUserInitiated }
        return source != 0 && other.source == 0
    }
}
