/// Everything specific to one metric: a row of `MetricTable`.
///
/// All code that reads or writes samples, days and settings uses this description. A new value or counter needs a row
/// here, a line of documentation and, for an icon or a device class, a row in the entities of Home Assistant.
package struct MetricDescription: Sendable {
    /// The name on all wires.
    package var name: String
    /// The form of its readings.
    package var shape: Metric.Shape
    /// The unit of `value` in every payload; `nil` for a metric without one.
    package var unit: String?
    /// The plausible values of a living person, bounds included, of a count those of one sample; `nil` if there is no single value.
    package var range: ClosedRange<Double>?
    /// What a person can add to its amounts in a second; `nil` if none of them grows with time.
    package var highestRate: HighestRate?
    /// Number of decimals that a value is shown with and a limit may have.
    package var decimals: Int
    /// How long a value is fresh unless configured; `nil` for always.
    package var freshness: Duration?
    /// The name of the metric of which this one holds the resting values; `nil` for none.
    package var restOf: String?
    /// Whether devices keep a history of it.
    package var hasHistory: Bool
    /// The words that its samples may have beside the value.
    package var qualifiers: [QualifierDescription]
    /// Whether its counts may have a distance and an energy.
    package var hasMovement: Bool
    /// How it is monitored; `nil` if it is not.
    package var monitoring: Monitoring?
    /// How its values tell people apart; `nil` if they do not.
    package var distinction: Distinction?

    /// How the values of a person differ from each other, in the metric's unit.
    package struct Distinction: Sendable {
        /// The least standard deviation from day to day.
        package var spread: Double
        /// By how much the variance grows in a day without a value.
        package var drift: Double
        /// Whose usual values are no farther apart cannot be told apart.
        package var closeness: Double

        package init(spread: Double, drift: Double, closeness: Double) {
            (self.spread, self.drift, self.closeness) = (spread, drift, closeness)
        }
    }

    /// The most that a person can do in a second, by the amount; `nil` where nothing is known, or the metric does not have it.
    package struct HighestRate: Sendable {
        /// Of `value`, in the metric's unit.
        package var value: Double?
        /// The same of samples with one of these words as their activity.
        package var byActivity: [String: Double]
        /// Metres.
        package var distance: Double?
        /// Kilocalories.
        package var energy: Double?
        /// Steps beside the value.
        package var steps: Double?
        /// Of `value` beside what grows with the time: it may come at once.
        package var further: Double
        /// The whole parts of time of which each counts for `value` that has begun; `nil` for none.
        package var step: Duration?

        package init(
            value: Double? = nil, byActivity: [String: Double] = [:], distance: Double? = nil, energy: Double? = nil,
            steps: Double? = nil, further: Double = 0, step: Duration? = nil
        ) {
            self.value = value
            self.byActivity = byActivity
            self.distance = distance
            self.energy = energy
            self.steps = steps
            self.further = further
            self.step = step
        }
    }

    /// The default monitoring of a metric.
    package struct Monitoring: Sendable {
        /// The schedule, switched off: start and end in minutes of the day, and minutes between two measurements.
        package var schedule: (start: Int, end: Int, interval: Int)
        /// The watched values, with their limits, switched off.
        package var limits: [(subject: AlertRule.Subject, range: ClosedRange<Double>)]
        /// The highest heart rate in exercise, in bpm, if the metric has one.
        package var exerciseMaximum: Int?
        /// How far a value must come back within its limit to clear the alert, in the metric's unit; without meaning if
        /// there are no limits.
        package var hysteresis: Double
        /// Number of values in a row beyond a limit that raise an alert.
        package var count: Int

        package init(
            from start: Int, to end: Int, every interval: Int,
            limits: [(subject: AlertRule.Subject, range: ClosedRange<Double>)] = [], exerciseMaximum: Int? = nil,
            hysteresis: Double = 0, count: Int = 2
        ) {
            schedule = (start, end, interval)
            self.limits = limits
            self.exerciseMaximum = exerciseMaximum
            self.hysteresis = hysteresis
            self.count = count
        }
    }

    package init(
        _ name: String, _ shape: Metric.Shape, unit: String?, range: ClosedRange<Double>? = nil,
        highestRate: HighestRate? = nil, decimals: Int = 0, freshness: Duration? = nil, restOf: String? = nil,
        hasHistory: Bool = true, qualifiers: [QualifierDescription] = [], hasMovement: Bool = false,
        monitoring: Monitoring? = nil, distinction: Distinction? = nil
    ) {
        self.name = name
        self.shape = shape
        self.unit = unit
        self.range = range
        self.highestRate = highestRate
        self.decimals = decimals
        self.freshness = freshness
        self.restOf = restOf
        self.hasHistory = hasHistory
        self.qualifiers = qualifiers
        self.hasMovement = hasMovement
        self.monitoring = monitoring
        self.distinction = distinction
    }
}
