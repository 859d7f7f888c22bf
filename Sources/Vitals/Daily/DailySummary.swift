/// The summary of one metric on one local day.
///
/// An item belongs to the day on which it starts; a sleep to the day on which it ends, naps included. Of equal extremes
/// the first counts.
public struct DailySummary: Sendable, Hashable {
    /// The metric.
    public var metric: Metric
    /// The local day.
    public var day: LocalDay
    /// Number of samples.
    public var count: Int
    /// Number of samples that a person started.
    public var manualCount: Int
    /// The mean of the values, to one decimal; for blood pressures see `PressureExtremes.average`.
    public var average: Double?
    /// The part specific to the kind of metric.
    public var details: Details
    /// The time in heart rate zones, for heart rates with a known highest heart rate in exercise.
    public var zones: HeartRateZones?

    /// Number of samples that the device took by itself.
    public var automaticCount: Int { count - manualCount }

    /// The parts of a summary that only some metrics have.
    public enum Details: Sendable, Hashable {
        /// Metrics with one value. Indirect, as are blood pressures: up to four samples would
        /// make every copy of a summary large.
        indirect case values(Extremes)
        /// Blood pressure.
        indirect case bloodPressure(PressureExtremes)
        /// Counts: totals of the day, `total` in the metric's unit and with its decimals.
        case count(total: Double, distance: Double?, energy: Double?)
        /// Sleep: the night that ended on the day, with its naps, in minutes.
        case sleep(SleepTotals)
        /// Sport: totals of the day.
        case sport(SportTotals)
    }

    /// The extremes and resting items of samples with one value.
    public struct Extremes: Sendable, Hashable {
        /// The sample with the highest value.
        public var maximum: StoredSample?
        /// The sample with the lowest value.
        public var minimum: StoredSample?
        /// Resting items, in ascending order.
        public var resting: [StoredSample]
        /// Extremes of a day.
        public init(maximum: StoredSample? = nil, minimum: StoredSample? = nil, resting: [StoredSample] = []) {
            self.maximum = maximum
            self.minimum = minimum
            self.resting = resting
        }
    }

    /// The extremes of blood pressures, and the mean of both pressures to one decimal.
    public struct PressureExtremes: Sendable, Hashable {
        /// The sample with the highest systolic pressure.
        public var maximumSystolic: StoredSample?
        /// The sample with the lowest systolic pressure.
        public var minimumSystolic: StoredSample?
        /// The sample with the highest diastolic pressure.
        public var maximumDiastolic: StoredSample?
        /// The sample with the lowest diastolic pressure.
        public var minimumDiastolic: StoredSample?
        /// The mean of the pressures, and of the pulses if there are any.
        public var average: BloodPressure?
        /// Extremes of a day.
        public init(
            maximumSystolic: StoredSample? = nil, minimumSystolic: StoredSample? = nil,
            maximumDiastolic: StoredSample? = nil, minimumDiastolic: StoredSample? = nil, average: BloodPressure? = nil
        ) {
            self.maximumSystolic = maximumSystolic
            self.minimumSystolic = minimumSystolic
            self.maximumDiastolic = maximumDiastolic
            self.minimumDiastolic = minimumDiastolic
            self.average = average
        }
    }

    /// Totals of a day's sleep, in whole minutes.
    public struct SleepTotals: Sendable, Hashable {
        /// Minutes asleep, of all depths and of an unknown one.
        public var asleep: Int
        /// Minutes in deep sleep.
        public var deep: Int
        /// Minutes in light sleep.
        public var light: Int
        /// Minutes in REM sleep.
        public var rem: Int
        /// Minutes awake during a sleep.
        public var awake: Int
        /// Minutes asleep of unknown depth.
        public var unstaged: Int
        /// Minutes in bed, of which it is not known whether asleep.
        public var inBed: Int
        /// When the first sleep began.
        public var start: Timestamp?
        /// When the last sleep ended.
        public var end: Timestamp?
        /// Totals of a day.
        public init(
            asleep: Int = 0, deep: Int = 0, light: Int = 0, rem: Int = 0, awake: Int = 0, unstaged: Int = 0,
            inBed: Int = 0, start: Timestamp? = nil, end: Timestamp? = nil
        ) {
            self.asleep = asleep
            self.deep = deep
            self.light = light
            self.rem = rem
            self.awake = awake
            self.unstaged = unstaged
            self.inBed = inBed
            self.start = start
            self.end = end
        }
    }

    /// Totals of a day's sport.
    public struct SportTotals: Sendable, Hashable {
        /// Whole minutes of all workouts.
        public var minutes: Int
        /// Number of workouts.
        public var sessions: Int
        /// Metres of all workouts; `nil` if no workout has a distance.
        public var distance: Double?
        /// Kilocalories of all workouts; `nil` if no workout has an energy.
        public var energy: Double?
        /// The workouts, in ascending order.
        public var workouts: [Workout]
        /// Totals of a day.
        public init(
            minutes: Int = 0, sessions: Int = 0, distance: Double? = nil, energy: Double? = nil,
            workouts: [Workout] = []
        ) {
            self.minutes = minutes
            self.sessions = sessions
            self.distance = distance
            self.energy = energy
            self.workouts = workouts
        }
    }

    /// One workout of a day.
    public struct Workout: Sendable, Hashable {
        /// The id of its sample.
        public var id: SampleID
        /// When the workout began.
        public var start: Timestamp
        /// When the workout ended.
        public var end: Timestamp
        /// The activity as named by the device.
        public var activity: String
        /// The time in heart rate zones, if the highest heart rate in exercise is known.
        public var zones: HeartRateZones?
        /// A workout.
        public init(
            id: SampleID, start: Timestamp, end: Timestamp, activity: String, zones: HeartRateZones? = nil
        ) {
            self.id = id
            self.start = start
            self.end = end
            self.activity = activity
            self.zones = zones
        }
    }

    /// A summary.
    public init(
        metric: Metric, day: LocalDay, count: Int, manualCount: Int, average: Double?, details: Details,
        zones: HeartRateZones? = nil
    ) {
        self.metric = metric
        self.day = day
        self.count = count
        self.manualCount = manualCount
        self.average = average
        self.details = details
        self.zones = zones
    }
}

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
    /// - Counts, sleep and sport have no `average`.
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

    /// The local day to which a sample belongs: that of its start, or of its end for a sleep, by the offset that its source says, else
    /// in the calendar's zone.
    public static func day(of sample: Sample, in calendar: LocalCalendar) -> LocalDay {
        ownDay(of: sample) ?? calendar.day(of: decisiveMoment(of: sample))
    }

    /// The local day to which a sample belongs, using a cache.
    public static func day(of sample: Sample, in cache: inout OffsetCache) -> LocalDay {
        ownDay(of: sample) ?? cache.day(of: decisiveMoment(of: sample))
    }

    /// The day of a sample whose source says its offset from UTC.
    package static func ownDay(of sample: Sample) -> LocalDay? {
        guard let offset = sample.utcOffset else { return nil }
        let moment = decisiveMoment(of: sample)
        return OffsetPeriod(seconds: Int(offset) * 60, range: moment..<moment).day(of: moment)
    }

    /// Whether both summaries are equal except for the times of receipt: a device that is asked twice sends the same
    /// extremes again.
    public func hasSameContent(as other: DailySummary) -> Bool { withoutReceipt == other.withoutReceipt }

    /// The summary with each sample received at its end.
    package var withoutReceipt: DailySummary {
        var result = self
        switch details {
        case .values(var extremes):
            extremes.maximum = extremes.maximum?.withoutReceipt
            extremes.minimum = extremes.minimum?.withoutReceipt
            extremes.resting = extremes.resting.map(\.withoutReceipt)
            result.details = .values(extremes)
        case .bloodPressure(var extremes):
            extremes.maximumSystolic = extremes.maximumSystolic?.withoutReceipt
            extremes.minimumSystolic = extremes.minimumSystolic?.withoutReceipt
            extremes.maximumDiastolic = extremes.maximumDiastolic?.withoutReceipt
            extremes.minimumDiastolic = extremes.minimumDiastolic?.withoutReceipt
            result.details = .bloodPressure(extremes)
        case .count, .sleep, .sport: break
        }
        return result
    }
}

extension StoredSample {
    /// The sample, received at its end.
    package var withoutReceipt: StoredSample {
        var result = self
        result.receivedAt = sample.end
        return result
    }
}

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
