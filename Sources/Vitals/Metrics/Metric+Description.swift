extension Metric {
    /// The form of a metric's readings, and how they add up to a day.
    public enum Shape: String, CaseIterable, Sendable, Hashable {
        /// One number. A day has extremes, mean and resting values.
        case value
        /// Systolic and diastolic pressure. A day has extremes and mean of both.
        case pressure
        /// What was counted within an interval, such as steps or kilocalories: an increment. A day has their sum.
        case count
        /// One sleep. A day has the night that ended on it, including naps.
        case sleep
        /// One workout. A day has the sums of all workouts.
        case session
    }

    /// The metric's row.
    private var details: MetricDescription { MetricTable.current.rows[index] }

    /// The metric's name on all wires, such as `heart_rate`.
    public var rawValue: String { details.name }

    /// The form of its readings.
    public var shape: Shape { details.shape }

    /// The unit of `value` in every payload; `nil` for a metric without a unit (stress).
    public var unit: String? { details.unit }

    /// The plausible values of a living person, in the metric's unit, bounds included. Readings outside are refused,
    /// and limits must lie within. For blood pressure it applies to both pressures, and for a count to one sample. `nil`
    /// for sleep and sport, which have no single measured value.
    public var range: ClosedRange<Double>? { details.range }

    /// The most that a person can add to its amounts in a second; `nil` if none of them grows with time.
    package var highestRate: MetricDescription.HighestRate? { details.highestRate }

    /// Number of decimals that a value is shown with and a limit may have.
    public var decimals: Int { details.decimals }

    /// How long a value is fresh unless configured; `nil` for always.
    public var defaultFreshness: Duration? { details.freshness }

    /// The metric of which this one holds the resting values, and by whose limits it is evaluated: heart rate for the
    /// resting heart rate. `nil` for all others.
    public var restOf: Metric? { MetricTable.current.restOf[index] }

    /// Whether samples span an interval (sleep, sport, counts), and so may appear on the device hours after they began.
    public var isInterval: Bool { shape == .count || shape == .sleep || shape == .session }

    /// Whether devices keep a history of it: all metrics except the battery.
    public var hasHistory: Bool { details.hasHistory }

    /// The words that a sample may have beside its value, in the order of publication; empty for most metrics.
    public var qualifiers: [QualifierDescription] { details.qualifiers }

    /// Whether its samples may have a word of this qualifier.
    public func has(_ qualifier: Qualifier) -> Bool { qualifiers.contains { $0.qualifier == qualifier } }

    /// Whether samples with different words of a qualifier are different records (`QualifierDescription.isSeparate`).
    package var isSeparated: Bool { qualifiers.contains(where: \.isSeparate) }

    /// Whether its counts may have a distance and an energy.
    public var hasMovement: Bool { details.hasMovement }

    /// Whether devices can monitor it themselves, with a schedule and, for most metrics, alert limits.
    public var isMonitored: Bool { details.monitoring != nil }

    /// The values watched by limits, in the order of the alert rules; empty if it has no limits.
    public var alertSubjects: [AlertRule.Subject] { details.monitoring?.limits.map(\.subject) ?? [] }

    /// Whether its values are classified by exercise: only those of the heart rate.
    public var distinguishesExercise: Bool { details.monitoring?.exerciseMaximum != nil }

    /// The default monitoring.
    package var monitoring: MetricDescription.Monitoring? { details.monitoring }

    /// How its values tell people apart; `nil` if they do not.
    package var distinction: MetricDescription.Distinction? { details.distinction }

    /// The metrics with a history on devices, in the order of synchronisation: workouts before heart rates, so that
    /// heart rates in a workout are recognised as exercise.
    public static var synchronised: [Metric] { MetricTable.current.synchronised }

    /// The metrics that devices can monitor themselves, with a schedule and, for most of them, alert limits.
    public static var monitored: [Metric] { MetricTable.current.monitored }

    /// The metrics with alert limits.
    public static var limited: [Metric] { MetricTable.current.monitored.filter { !$0.alertSubjects.isEmpty } }
}

extension Reading {
    /// The form of this reading, valid only for metrics of that shape.
    public var shape: Metric.Shape {
        switch self {
        case .value: .value
        case .bloodPressure: .pressure
        case .count: .count
        case .sleep: .sleep
        case .sport: .session
        }
    }
}
