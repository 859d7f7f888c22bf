/// What a device can do, per metric. A metric that is not named is not supported.
public struct Capabilities: Sendable, Hashable {
    /// The abilities of each supported metric.
    public var metrics: [Metric: Abilities]
    /// How many days back the device keeps its history, where it says so.
    public var maximumHistoryDays: Int?

    /// The capabilities of a device.
    public init(_ metrics: [Metric: Abilities] = [:], maximumHistoryDays: Int? = nil) {
        self.metrics = metrics
        self.maximumHistoryDays = maximumHistoryDays
    }

    /// Whether the device can do all of this with this metric.
    public func supports(_ ability: Abilities, _ metric: Metric) -> Bool {
        metrics[metric]?.isSuperset(of: ability) ?? false
    }

    /// Whether the device knows this metric at all.
    public func supports(_ metric: Metric) -> Bool { metrics[metric] != nil }

    /// Whether there is something of this metric to read from the device: records, or daily summaries of its own.
    public func canSynchronise(_ metric: Metric) -> Bool {
        !(metrics[metric] ?? []).isDisjoint(with: [.history, .summary])
    }

    /// Whether there is anything at all to read from the device.
    public var canSynchronise: Bool { metrics.keys.contains { canSynchronise($0) } }

    /// The supported metrics with all of these abilities, in the order of `Metric.allCases`.
    public func metrics(with ability: Abilities) -> [Metric] {
        Metric.allCases.filter { supports(ability, $0) }
    }
}

/// What a device can do with one metric.
public struct Abilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt16
    /// Abilities of these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// It measures when asked to.
    public static let measure = Abilities(rawValue: 1 << 0)
    /// It measures by itself, by a schedule.
    public static let monitor = Abilities(rawValue: 1 << 1)
    /// The schedule's start and end can be set.
    public static let scheduleTime = Abilities(rawValue: 1 << 2)
    /// The schedule's interval can be set.
    public static let scheduleInterval = Abilities(rawValue: 1 << 3)
    /// It raises alerts by limits that can be set.
    public static let alert = Abilities(rawValue: 1 << 4)
    /// It keeps a history that can be read.
    public static let history = Abilities(rawValue: 1 << 5)
    /// It makes daily summaries of its own.
    public static let summary = Abilities(rawValue: 1 << 6)
    /// Heart rate: it has limits for the resting heart rate.
    public static let restAlert = Abilities(rawValue: 1 << 7)
    /// Heart rate: it has limits for the heart rate in exercise.
    public static let exerciseAlert = Abilities(rawValue: 1 << 8)
    /// Heart rate: it can measure more often and more precisely.
    public static let enhanced = Abilities(rawValue: 1 << 9)

    /// Every ability with its name on the wire, in the order in which they are published.
    public static let named: [(name: String, ability: Abilities)] = [
        ("measure", .measure), ("monitor", .monitor), ("schedule_time", .scheduleTime),
        ("schedule_interval", .scheduleInterval), ("alert", .alert), ("history", .history), ("summary", .summary),
        ("rest_alert", .restAlert), ("exercise_alert", .exerciseAlert), ("enhanced", .enhanced),
    ]

    /// The names that only heart rate has.
    public static let heartRateOnly: Abilities = [.restAlert, .exerciseAlert, .enhanced]
}
