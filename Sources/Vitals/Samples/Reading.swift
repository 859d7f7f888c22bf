/// What a sample's measurement gave, in the unit of its metric.
public enum Reading: Sendable, Hashable {
    /// One number: heart rates (bpm), blood oxygen (%), stress (0–100), temperature (°C), battery (%).
    case value(Double)
    /// A blood pressure.
    case bloodPressure(BloodPressure)
    /// Steps of an interval.
    case steps(Steps)
    /// One sleep.
    case sleep(Sleep)
    /// One workout. Indirect: it is rare, and four times as large as the others, which come by the thousand.
    indirect case sport(Sport)

    /// The number that stands for the reading in a payload's `value`, `nil` for blood pressure, which has none: steps
    /// counted, minutes asleep, minutes of the workout are derived where the sample's bounds are known
    /// (`Sample.value`).
    var number: Double? {
        switch self {
        case .value(let value): value
        case .steps(let steps): Double(steps.count)
        case .sleep(let sleep): Double(sleep.minutesAsleep)
        case .bloodPressure, .sport: nil
        }
    }
}

extension Sample {
    /// The one number of this sample, in its metric's unit: the value, the steps counted, the minutes asleep, the
    /// workout's whole minutes; `nil` for a blood pressure, which has two.
    public var value: Double? {
        if case .sport = reading { return Double(duration.inMilliseconds / 60_000) }
        return reading.number
    }
}

/// A blood pressure in mmHg.
public struct BloodPressure: Sendable, Hashable {
    /// The higher pressure, at the heart's beat.
    public var systolic: Double
    /// The lower pressure, between two beats.
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

/// Steps of an interval.
public struct Steps: Sendable, Hashable {
    /// Steps made within the interval: an increment.
    public var count: Int
    /// Distance walked, in metres.
    public var distance: Double?
    /// Energy spent, in kilocalories.
    public var energy: Double?

    /// Steps of an interval, with distance in metres and energy in kilocalories.
    public init(count: Int, distance: Double? = nil, energy: Double? = nil) {
        self.count = count
        self.distance = distance
        self.energy = energy
    }
}

/// One sleep, as stages that ascend in time and do not overlap.
public struct Sleep: Sendable, Hashable {
    /// A part of a sleep.
    public struct Stage: Sendable, Hashable {
        /// How deeply the person slept. The raw value is its name on the wire.
        public enum Depth: String, CaseIterable, Sendable, Hashable { case deep, light, rem, awake }
        /// How deeply.
        public var depth: Depth
        /// When the stage began.
        public var start: Timestamp
        /// When it ended.
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

/// One workout. Its length is that of its sample.
public struct Sport: Sendable, Hashable {
    /// The kind of sport in the device's own words, such as `running`.
    public var activity: String
    /// Distance covered, in metres.
    public var distance: Double?
    /// Energy spent, in kilocalories.
    public var energy: Double?
    /// Steps made.
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
