extension DailySummary {
    /// The summary of a day's samples, in any order, each of them once.
    ///
    /// - Every sample counts in `count`, as manual or automatic by who started it, and may be an extreme.
    /// - Means are to one decimal. Samples of kind `maximum` and `minimum` count in a mean only on a day without others,
    ///   since they repeat values that other samples stand for.
    /// - Resting items are samples of kind `resting`; of the resting heart rate every sample is one, whatever its kind,
    ///   as that metric has no other values. The first `DailyAccumulator.restingLimit` of the day are kept.
    /// - Sleeps are added up with their naps; the start is that of the first, the end that of the last.
    /// - Steps, sleep and sport have no `average`.
    /// - Samples of another metric, or with a reading that is not of the metric, are left out.
    public init(metric: Metric, day: LocalDay, samples: some Sequence<StoredSample>) {
        var accumulator = DailyAccumulator(metric: metric, day: day)
        for sample in samples { accumulator.add(sample) }
        self = accumulator.summary
    }

    /// The moment that decides to which day a sample belongs: its start, of a sleep its end.
    public static func decisiveMoment(of sample: Sample) -> Timestamp {
        sample.metric == .sleep ? sample.end : sample.start
    }

    /// The local day to which a sample belongs: that of its start, of a sleep that of its end.
    public static func day(of sample: Sample, in calendar: LocalCalendar) -> LocalDay {
        calendar.day(of: decisiveMoment(of: sample))
    }

    /// The local day to which a sample belongs, by a calendar that remembers.
    public static func day(of sample: Sample, in cache: inout OffsetCache) -> LocalDay {
        cache.day(of: decisiveMoment(of: sample))
    }
}
