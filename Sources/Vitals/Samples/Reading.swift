/// The result of a sample's measurement, in the unit of its metric.
public enum Reading: Sendable, Hashable {
    /// One number, in the metric's unit (`Metric.unit`).
    case value(Double)
    /// A blood pressure.
    case bloodPressure(BloodPressure)
    /// What was counted in an interval: steps, metres, kilocalories.
    case count(Increment)
    /// One sleep.
    case sleep(Sleep)
    /// One workout. Indirect, because it is rare and four times as large as the others, of which there are thousands.
    indirect case sport(Sport)

    /// The number for a payload's `value`; `nil` if it depends on the sample's bounds (see `Sample.value`) or the
    /// reading is a blood pressure, which has two.
    var number: Double? {
        switch self {
        case .value(let value): value
        case .count(let increment): increment.amount
        case .sleep(let sleep): Double(sleep.minutesAsleep)
        case .bloodPressure, .sport: nil
        }
    }
}

extension Sample {
    /// The sample's single number, in its metric's unit: the value, what was counted, the minutes asleep, or the
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

/// What was counted within an interval, in the unit of its metric: an increment, not a running total.
public struct Increment: Sendable, Hashable {
    /// The whole units within the interval.
    public var count: Int
    /// Thousandths of one further unit, from 0 to 999: an app divides a record evenly among the minutes that it covers.
    public var thousandths: Int
    /// Distance covered with it, in metres; only of a metric with `hasMovement`.
    public var distance: Double?
    /// Energy spent with it, in kilocalories; only of a metric with `hasMovement`.
    public var energy: Double?

    /// Whole units within an interval, with distance in metres and energy in kilocalories.
    public init(count: Int, thousandths: Int = 0, distance: Double? = nil, energy: Double? = nil) {
        self.count = count
        self.thousandths = thousandths
        self.distance = distance
        self.energy = energy
    }
}

extension Increment {
    /// The greatest amount that is read: beyond all that may be stored, and small enough to be counted in thousandths.
    private static let maximumAmount = 1e12

    /// An amount that may have a part of a unit, in thousandths; `nil` for one that is negative, or no number at all.
    public init?(amount: Double, distance: Double? = nil, energy: Double? = nil) {
        guard amount >= 0, amount <= Self.maximumAmount else { return nil }
        let (whole, rest) = Int((amount * 1000).rounded()).quotientAndRemainder(dividingBy: 1000)
        self.init(count: whole, thousandths: rest, distance: distance, energy: energy)
    }

    /// All of it, with the part of a unit.
    public var amount: Double { thousandths == 0 ? Double(count) : (Double(count) * 1000 + Double(thousandths)) / 1000 }
}

/// One sleep: stages in ascending order that do not overlap, and minutes of which only the number is known.
public struct Sleep: Sendable, Hashable {
    /// A part of a sleep.
    public struct Stage: Sendable, Hashable {
        /// Depth of sleep. The raw value is the name on the wire.
        public enum Depth: String, CaseIterable, Sendable, Hashable {
            case deep, light, rem, awake
            /// Asleep, at a depth that the device does not know.
            case asleep
            /// In bed, where nothing says whether asleep or awake. It does not count as sleep.
            case inBed = "in_bed"

            /// Whether its minutes count as sleep.
            public var isAsleep: Bool { self != .awake && self != .inBed }
        }
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
    /// Whole minutes of each depth beside those of the stages, of a device that says how long and not when.
    public var untimed: [Stage.Depth: Int]

    /// A sleep of these stages and minutes.
    public init(stages: [Stage], untimed: [Stage.Depth: Int] = [:]) {
        self.stages = stages
        self.untimed = untimed
    }

    /// Whole minutes spent in this depth.
    public func minutes(_ depth: Stage.Depth) -> Int {
        var milliseconds: Int64 = 0
        for stage in stages where stage.depth == depth {
            milliseconds = milliseconds.saturatingSum((stage.end - stage.start).inMilliseconds)
        }
        return Int(milliseconds / 60_000).saturatingSum(untimed[depth] ?? 0)
    }

    /// Whole minutes asleep, of all depths and of an unknown one.
    public var minutesAsleep: Int {
        Stage.Depth.allCases.reduce(0) { $1.isAsleep ? $0.saturatingSum(minutes($1)) : $0 }
    }
}

extension Sleep {
    /// How much a sleep says. Of two that overlap, the one that says more counts.
    package enum Detail: Int, Comparable, Sendable {
        /// No minute asleep: a time in bed.
        case inBed
        /// More than half of the time asleep has no stage.
        case asleep
        /// At least half of the time asleep has stages, or it is known that all of it was awake.
        case stages

        package static func < (a: Detail, b: Detail) -> Bool { a.rawValue < b.rawValue }
    }

    /// How much it says.
    package var detail: Detail {
        let asleep = minutesAsleep
        if asleep == 0 {
            let isKnown = !stages.isEmpty || minutes(.awake) > 0
            return isKnown && minutes(.inBed) == 0 ? .stages : .inBed
        }
        return minutes(.asleep) > asleep / 2 ? .asleep : .stages
    }
}

/// One workout. Its sample holds its duration.
public struct Sport: Sendable, Hashable {
    /// A part of a workout, such as a kilometre or a length of a pool.
    public struct Lap: Sendable, Hashable {
        /// When it began.
        public var start: Timestamp
        /// When it ended.
        public var end: Timestamp
        /// Distance covered, in metres.
        public var distance: Double?
        /// Energy spent, in kilocalories.
        public var energy: Double?
        /// Average heart rate, in beats per minute.
        public var averageHeartRate: Double?
        /// Highest heart rate, in beats per minute.
        public var maximumHeartRate: Double?

        /// A lap from `start` to `end`.
        public init(
            from start: Timestamp, to end: Timestamp, distance: Double? = nil, energy: Double? = nil,
            averageHeartRate: Double? = nil, maximumHeartRate: Double? = nil
        ) {
            (self.start, self.end, self.distance, self.energy) = (start, end, distance, energy)
            (self.averageHeartRate, self.maximumHeartRate) = (averageHeartRate, maximumHeartRate)
        }
    }

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
    /// Its laps, ascending in time; at most `SampleLimits.laps`.
    public var laps: [Lap] = []

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
