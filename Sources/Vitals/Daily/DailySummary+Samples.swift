extension DailySummary {
    /// The summary of a day's samples, in any order, each given once.
    ///
    /// - Every sample counts in `count`, as manual or automatic depending on who started it, and may be an extreme.
    /// - Means have one decimal. Samples of kind `maximum` and `minimum` count in a mean only on a day without others,
    ///   since they repeat values of other samples.
    /// - Samples that differ in a decisive qualifier, such as the statistic of a heart-rate variability, have neither a
    ///   mean nor extremes.
    /// - Resting items are samples of kind `resting`. Every sample of the resting heart rate is one, of any kind.
    ///   The newest `DailyAccumulator.restingLimit` of the day are kept.
    /// - Sleeps are added up with their naps, from the start of the first to the end of the last.
    /// - Steps, sleep and sport have no `average`.
    /// - Samples of another metric or with a reading of another kind are ignored.
    public init(metric: Metric, day: LocalDay, samples: some Sequence<StoredSample>) {
        var accumulator = DailyAccumulator(metric: metric, day: day)
        for sample in samples { accumulator.add(sample) }
        self = accumulator.summary
    }

    /// The time that decides to which day a sample belongs: its start, or the end of a sleep.
    public static func decisiveMoment(of sample: Sample) -> Timestamp {
        sample.metric.shape == .sleep ? sample.end : sample.start
    }

    /// The local day to which a sample belongs: that of its start, or of its end for a sleep.
    public static func day(of sample: Sample, in calendar: LocalCalendar) -> LocalDay {
        calendar.day(of: decisiveMoment(of: sample))
    }

    /// The local day to which a sample belongs, using a cache.
    public static func day(of sample: Sample, in cache: inout OffsetCache) -> LocalDay {
        cache.day(of: decisiveMoment(of: sample))
    }
}
