/// What one local day of one metric amounts to.
///
/// An item belongs to the day on which it starts; a sleep to the day on which it ends, naps included. Of equal extremes
/// the first counts.
public struct DailySummary: Sendable, Hashable {
    /// The metric.
    public var metric: Metric
    /// The local day.
    public var day: LocalDay
    /// How many samples the day has.
    public var count: Int
    /// How many of them a person started.
    public var manualCount: Int
    /// The mean of the values, to one decimal; of blood pressures see `averagePressure`.
    public var average: Double?
    /// What there is beyond counts and average, by the kind of metric.
    public var details: Details

    /// How many samples the device took by itself.
    public var automaticCount: Int { count - manualCount }

    /// The parts of a summary that only some metrics have.
    public enum Details: Sendable, Hashable {
        /// Heart rates, blood oxygen, stress, temperature. Indirect, as are blood pressures: up to four whole samples would
        /// make every copy of a summary large.
        indirect case values(Extremes)
        /// Blood pressure.
        indirect case bloodPressure(PressureExtremes)
        /// Steps: totals of the day.
        case steps(count: Int, distance: Double?, energy: Double?)
        /// Sleep: the night that ended on the day, with its naps, in minutes.
        case sleep(SleepTotals)
        /// Sport: totals of the day.
        case sport(SportTotals)
    }

    /// The extreme and the resting items of one-valued samples.
    public struct Extremes: Sendable, Hashable {
        /// The sample with the highest value.
        public var maximum: StoredSample?
        /// The sample with the lowest value.
        public var minimum: StoredSample?
        /// Samples at rest, ascending in time.
        public var resting: [StoredSample]
        /// The extremes of a day.
        public init(maximum: StoredSample? = nil, minimum: StoredSample? = nil, resting: [StoredSample] = []) {
            self.maximum = maximum
            self.minimum = minimum
            self.resting = resting
        }
    }

    /// The extreme items of blood pressures, and the mean of both pressures to one decimal.
    public struct PressureExtremes: Sendable, Hashable {
        /// The sample with the highest systolic pressure.
        public var maximumSystolic: StoredSample?
        /// The sample with the lowest systolic pressure.
        public var minimumSystolic: StoredSample?
        /// The sample with the highest diastolic pressure.
        public var maximumDiastolic: StoredSample?
        /// The sample with the lowest diastolic pressure.
        public var minimumDiastolic: StoredSample?
        /// The mean of the pressures (and of the pulses, where there are any).
        public var average: BloodPressure?
        /// The extremes of a day.
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

    /// The sleep of a day, in whole minutes.
    public struct SleepTotals: Sendable, Hashable {
        /// Minutes in deep, light and REM sleep.
        public var asleep: Int
        /// Minutes in deep sleep.
        public var deep: Int
        /// Minutes in light sleep.
        public var light: Int
        /// Minutes in REM sleep.
        public var rem: Int
        /// Minutes awake within a sleep.
        public var awake: Int
        /// When the first sleep began.
        public var start: Timestamp?
        /// When the last sleep ended.
        public var end: Timestamp?
        /// The totals of a day.
        public init(
            asleep: Int = 0, deep: Int = 0, light: Int = 0, rem: Int = 0, awake: Int = 0, start: Timestamp? = nil,
            end: Timestamp? = nil
        ) {
            self.asleep = asleep
            self.deep = deep
            self.light = light
            self.rem = rem
            self.awake = awake
            self.start = start
            self.end = end
        }
    }

    /// The sport of a day.
    public struct SportTotals: Sendable, Hashable {
        /// Whole minutes of all workouts.
        public var minutes: Int
        /// How many workouts.
        public var sessions: Int
        /// Metres of all workouts, `nil` where none says.
        public var distance: Double?
        /// Kilocalories of all workouts, `nil` where none says.
        public var energy: Double?
        /// The totals of a day.
        public init(minutes: Int = 0, sessions: Int = 0, distance: Double? = nil, energy: Double? = nil) {
            self.minutes = minutes
            self.sessions = sessions
            self.distance = distance
            self.energy = energy
        }
    }

    /// A summary.
    public init(
        metric: Metric, day: LocalDay, count: Int, manualCount: Int, average: Double?, details: Details
    ) {
        self.metric = metric
        self.day = day
        self.count = count
        self.manualCount = manualCount
        self.average = average
        self.details = details
    }
}
