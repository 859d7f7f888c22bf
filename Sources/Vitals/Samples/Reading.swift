/// The result of a sample's measurement, in the unit of its metric.
public enum Reading: Sendable, Hashable {
    /// One number, in the metric's unit (`Metric.unit`).
    case value(Double)
    /// A blood pressure.
    case bloodPressure(BloodPressure)
    /// Steps of an interval.
    case steps(Steps)
    /// One sleep.
    case sleep(Sleep)
    /// One workout. Indirect, because it is rare and four times as large as the others, of which there are thousands.
    indirect case sport(Sport)

    /// The number for a payload's `value`; `nil` if it depends on the sample's bounds (see `Sample.value`) or the
    /// reading is a blood pressure, which has two.
    var number: Double? {
        switch self {
        case .value(let value): value
        case .steps(let steps): steps.amount
        case .sleep(let sleep): Double(sleep.minutesAsleep)
        case .bloodPressure, .sport: nil
        }
    }
}

extension Sample {
    /// The sample's single number, in its metric's unit: the value, the step count, the minutes asleep, or the
    /// workout's whole minutes; `nil` for a blood pressure, which has two.
    public var value: Double? {
        if case .sport = reading { return Double(duration.inMilliseconds / 60_000) }
        return reading.number
    }
}

/// A blood pressure in mmHg.
public struct BloodPressure: Sendable, Hashable {
    /// The higher pressure, during the heartbeat.
    public var systolic: Double
    /// The lower pressure, between heartbeats.
    public var diastolic: Double
    /// The pulse during the measurement, in beats per minute.
    public var pulse: Double?

    /// A blood pressure of `systolic` over `diastolic` mmHg.
    public init(systolic: Double, diastolic: Double, pulse: Double? = nil) {
        self.systolic = systolic
        self.diastolic = diastolic
        self.pulse = pulse
    }
}

/// Steps within an interval.
public struct Steps: Sendable, Hashable {
    /// Whole steps within the interval: an increment.
    public var count: Int
    /// Thousandths of one further step, from 0 to 999: an app divides a record evenly among the minutes that it covers.
    public var thousandths: Int
    /// Distance walked, in metres.
    public var distance: Double?
    /// Energy spent, in kilocalories.
    public var energy: Double?

    /// Steps within an interval, with distance in metres and energy in kilocalories.
    public init(count: Int, thousandths: Int = 0, distance: Double? = nil, energy: Double? = nil) {
        self.count = count
        self.thousandths = thousandths
        self.distance = distance
        self.energy = energy
    }
}

extension Steps {
    /// The greatest amount that is read: beyond all that may be stored, and small enough to be counted in thousandths.
    private static let maximumAmount = 1e12

    /// An amount that may have a part of a step, in thousandths; `nil` for one that is negative, or no number of steps at all.
    public init?(amount: Double, distance: Double? = nil, energy: Double? = nil) {
        guard amount >= 0, amount <= Self.maximumAmount else { return nil }
        let (whole, rest) = Int((amount * 1000).rounded()).quotientAndRemainder(dividingBy: 1000)
        self.init(count: whole, thousandths: rest, distance: distance, energy: energy)
    }

    /// All of it, with the part of a step.
    public var amount: Double { thousandths == 0 ? Double(count) : (Double(count) * 1000 + Double(thousandths)) / 1000 }
}

/// One sleep, as stages in ascending order that do not overlap.
public struct Sleep: Sendable, Hashable {
    /// A part of a sleep.
    public struct Stage: Sendable, Hashable {
        /// Depth of sleep. The raw value is the name on the wire.
        public enum Depth: String, CaseIterable, Sendable, Hashable { case deep, light, rem, awake }
        /// The depth.
        public var depth: Depth
        /// When the stage began.
        public var start: Timestamp
        /// When the stage ended.
        public var end: Timestamp

        /// A stage from `start` to `end`.
        public init(_ depth: Depth, from start: Timestamp, to end: Timestamp) {
            self.depth = depth
            self.start = start
            self.end = end
        }
    }

    /// The stages, ascending in time.
    public var stages: [Stage]

    /// A sleep of these stages.
    public init(stages: [Stage]) { self.stages = stages }

    /// Whole minutes spent in stages of this depth.
    public func minutes(_ depth: Stage.Depth) -> Int {
        var milliseconds: Int64 = 0
        for stage in stages where stage.depth == depth {
            milliseconds = milliseconds.saturatingSum((stage.end - stage.start).inMilliseconds)
        }
        return Int(milliseconds / 60_000)
    }

    /// Whole minutes in deep, light and REM sleep.
    public var minutesAsleep: Int { minutes(.deep) + minutes(.light) + minutes(.rem) }
}

/// One workout. Its sample holds its duration.
public struct Sport: Sendable, Hashable {
    /// The activity as named by the device, such as `running`.
    public var activity: String
    /// Distance covered, in metres.
    public var distance: Double?
    /// Energy spent, in kilocalories.
    public var energy: Double?
    /// Number of steps.
    public var steps: Int?
    /// Lowest heart rate, in beats per minute.
    public var minimumHeartRate: Double?
    /// Average heart rate, in beats per minute.
    public var averageHeartRate: Double?
    /// Highest heart rate, in beats per minute.
    public var maximumHeartRate: Double?

    /// A workout of this activity.
    public init(
        activity: String, distance: Double? = nil, energy: Double? = nil, steps: Int? = nil,
        minimumHeartRate: Double? = nil, averageHeartRate: Double? = nil, maximumHeartRate: Double? = nil
    ) {
        self.activity = activity
        self.distance = distance
        self.energy = energy
        self.steps = steps
        self.minimumHeartRate = minimumHeartRate
        self.averageHeartRate = averageHeartRate
        self.maximumHeartRate = maximumHeartRate
    }
}
