/// The capabilities of a device, per metric. A metric without entry is not supported.
public struct Capabilities: Sendable, Hashable {
    /// The abilities of each supported metric.
    public var metrics: [Metric: Abilities]
    /// Number of days for which the device keeps its history, if it says so.
    public var maximumHistoryDays: Int?

    /// The capabilities of a device.
    public init(_ metrics: [Metric: Abilities] = [:], maximumHistoryDays: Int? = nil) {
        self.metrics = metrics
        self.maximumHistoryDays = maximumHistoryDays
    }

    /// Whether the device has all of these abilities for this metric.
    public func supports(_ ability: Abilities, _ metric: Metric) -> Bool {
        metrics[metric]?.isSuperset(of: ability) ?? false
    }

    /// Whether the device supports this metric in any way.
    public func supports(_ metric: Metric) -> Bool { metrics[metric] != nil }

    /// Whether the device has a monitoring configuration of this metric: a schedule, limits, or both.
    public func isConfigurable(_ metric: Metric) -> Bool {
        !(metrics[metric] ?? []).isDisjoint(with: [.monitor, .alert, .restAlert, .exerciseAlert])
    }

    /// The metrics with a monitoring configuration, in the order of `Metric.allCases`.
    public var configurable: [Metric] { Metric.allCases.filter { isConfigurable($0) } }

    /// Whether the device has something to read for this metric: records, or its own daily summaries.
    public func canSynchronise(_ metric: Metric) -> Bool {
        !(metrics[metric] ?? []).isDisjoint(with: [.history, .summary])
    }

    /// Whether the gateway knows in time that a heart rate belongs to exercise: the device itself watches limits in
    /// exercise, its samples say so, or one synchronisation brings both heart rates and workouts as records.
    public var recognisesExercise: Bool {
        let heartRate = metrics[.heartRate] ?? []
        return !heartRate.isDisjoint(with: [.exerciseAlert, .exercise])
            || heartRate.contains(.history) && supports(.history, .sport)
    }

    /// Whether the device has anything to read.
    public var canSynchronise: Bool { metrics.keys.contains { canSynchronise($0) } }

    /// The supported metrics with all of these abilities, in the order of `Metric.allCases`.
    public func metrics(with ability: Abilities) -> [Metric] {
        Metric.allCases.filter { supports(ability, $0) }
    }
}

/// The capabilities of a device for one metric.
public struct Abilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt16
    /// Abilities with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The device measures on demand.
    public static let measure = Abilities(rawValue: 1 << 0)
    /// The device measures by itself, on a schedule.
    public static let monitor = Abilities(rawValue: 1 << 1)
    /// The schedule's start and end can be set.
    public static let scheduleTime = Abilities(rawValue: 1 << 2)
    /// The schedule's interval can be set.
    public static let scheduleInterval = Abilities(rawValue: 1 << 3)
    /// The device raises alerts by limits that can be set.
    public static let alert = Abilities(rawValue: 1 << 4)
    /// The device keeps a readable history.
    public static let history = Abilities(rawValue: 1 << 5)
    /// The device makes its own daily summaries.
    public static let summary = Abilities(rawValue: 1 << 6)
    /// Heart rate: the device has limits for the resting heart rate.
    public static let restAlert = Abilities(rawValue: 1 << 7)
    /// Heart rate: the device has limits for the heart rate in exercise.
    public static let exerciseAlert = Abilities(rawValue: 1 << 8)
    /// Heart rate: the device can measure more often and more precisely.
    public static let enhanced = Abilities(rawValue: 1 << 9)

    /// Heart rate: samples say whether the person was exercising.
    public static let exercise = Abilities(rawValue: 1 << 10)
    /// Heart rate: the device warns of heart rates and rhythms by itself (`AlertRule.Warning`).
    public static let warnings = Abilities(rawValue: 1 << 11)

    /// All abilities with their names on the wire, in the order of publication.
    public static let named: [(name: String, ability: Abilities)] = [
        ("measure", .measure), ("monitor", .monitor), ("schedule_time", .scheduleTime),
        ("schedule_interval", .scheduleInterval), ("alert", .alert), ("history", .history), ("summary", .summary),
        ("rest_alert", .restAlert), ("exercise_alert", .exerciseAlert), ("enhanced", .enhanced),
        ("exercise", .exercise), ("warnings", .warnings),
    ]

    /// The abilities that only heart rate has.
    public static let heartRateOnly: Abilities = [.restAlert, .exerciseAlert, .enhanced, .exercise, .warnings]
}
