/// A property of a sample that qualifies its value by a word, such as the statistic of a heart-rate variability. The raw
/// value is its name on all wires. `Metric.qualifiers` has the words.
public struct Qualifier: RawRepresentable, CaseIterable, Sendable, Hashable {
    /// The name on all wires.
    public let rawValue: String

    /// The qualifier with this name, whether or not a metric has it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// All qualifiers of all metrics, in the order of the metrics.
    public static let allCases: [Qualifier] = Metric.allCases.flatMap(\.qualifiers).map(\.qualifier)
        .reduce(into: []) { found, next in if !found.contains(next) { found.append(next) } }

    /// How a heart-rate variability is computed from the times between heartbeats: `rmssd`, the root mean square of
    /// successive differences, or `sdnn`, the standard deviation.
    public static let statistic = Qualifier(rawValue: "statistic")
    /// The time of a blood glucose in relation to meals: `fasting`, `before` or `after` one, at `bedtime`, or `random`:
    /// at any time.
    public static let meal = Qualifier(rawValue: "meal")
    /// The fluid in which a blood glucose is measured: the fluids of Health Connect, and venous and arterial blood of the
    /// Bluetooth service.
    public static let specimen = Qualifier(rawValue: "specimen")
    /// How a distance was covered: `walking_running`, `cycling`, `swimming` or `wheelchair`.
    public static let activity = Qualifier(rawValue: "activity")
}

/// A qualifier of a metric, with its words.
public struct QualifierDescription: Sendable, Hashable {
    /// The qualifier.
    public let qualifier: Qualifier
    /// The accepted words, in the order of documentation.
    public let words: [String]
    /// Whether values with different words measure different things, so that they have no common mean and no common
    /// extremes. A missing word differs from every other.
    public let isDecisive: Bool
    /// Whether records of the same times with different words stand beside each other and add up, so that the word is part of their
    /// ids. One without a word may be the same as any. Only of counts.
    public let isSeparate: Bool

    /// A qualifier with these words.
    package init(_ qualifier: Qualifier, _ words: [String], isDecisive: Bool = false, isSeparate: Bool = false) {
        self.qualifier = qualifier
        self.words = words
        self.isDecisive = isDecisive
        self.isSeparate = isSeparate
    }
}
