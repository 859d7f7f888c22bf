/// How a device monitors its metrics: one configuration per metric.
public struct MonitorSettings: Sendable, Hashable {
    private var configurations: [Metric: MonitorConfiguration]

    /// Settings with these configurations. The last one of a metric wins.
    public init(_ configurations: [MonitorConfiguration] = []) {
        self.configurations = [:]
        for configuration in configurations { set(configuration) }
    }

    /// Settings with these leaves. Omits parts with missing leaves.
    public init(_ values: [MonitorSetting: MonitorSetting.Value]) {
        self.init(
            Set(values.keys.map(\.metric)).compactMap { metric in
                MonitorConfiguration(of: metric) { values[MonitorSetting(metric, $0)] }
            })
    }

    /// The configuration of a metric; `nil` if nothing of it is known.
    public subscript(metric: Metric) -> MonitorConfiguration? { configurations[metric] }

    /// The value of a leaf; `nil` if unknown. Removing a leaf removes its part.
    public subscript(metric: Metric, field: MonitorSetting.Field) -> MonitorSetting.Value? {
        get { configurations[metric]?[field] }
        set {
            let setting = MonitorSetting(metric, field)
            if let newValue { return merge([setting: newValue]) }
            let known = configurations[metric]
            configurations[metric] = MonitorConfiguration(of: metric) { $0 == field ? nil : known?[$0] }
        }
    }

    /// All leaves with their values, as a flat table.
    public var values: [MonitorSetting: MonitorSetting.Value] {
        var result: [MonitorSetting: MonitorSetting.Value] = [:]
        for (metric, configuration) in configurations {
            for (field, value) in configuration.leaves { result[MonitorSetting(metric, field)] = value }
        }
        return result
    }

    /// Replaces the configuration of its metric.
    public mutating func set(_ configuration: MonitorConfiguration) {
        configurations[configuration.metric] = configuration.isEmpty ? nil : configuration
    }

    /// Removes a metric.
    public mutating func remove(_ metric: Metric) { configurations[metric] = nil }

    /// Applies changed leaves. A missing part starts with its defaults, since a schedule and limits are written and
    /// published as a whole.
    public mutating func merge(_ changes: [MonitorSetting: MonitorSetting.Value]) {
        for (metric, changes) in Dictionary(grouping: changes, by: \.key.metric) {
            let changed = Dictionary(uniqueKeysWithValues: changes.map { ($0.key.field, $0.value) })
            let groups = Set(changed.keys.map(\.group))
            let example = MonitorConfiguration(defaultOf: metric)
            let known = configurations[metric]
            configurations[metric] = MonitorConfiguration(of: metric) { field in
                changed[field] ?? known?[field] ?? (groups.contains(field.group) ? example?[field] : nil)
            }
        }
    }

    /// The highest heart rate in exercise, in bpm, which defines the zones; `nil` if unknown.
    public var exerciseMaximum: Double? {
        if case .number(let maximum) = self[.heartRate, .exerciseMaximum] { maximum } else { nil }
    }

    /// The metrics with any known setting, in the order of `Metric.monitored`.
    public var metrics: [Metric] { Metric.monitored.filter { configurations[$0] != nil } }
}

extension MonitorSettings {
    /// The initial settings for a device with these capabilities that reports none itself: everything is off, with the
    /// times and limits used as examples in the guide of automatic monitoring (`MetricTable`).
    ///
    /// Each metric gets a complete schedule and complete limits if the device offers any setting of them, because a
    /// schedule is written and published as a whole.
    public static func defaults(for capabilities: Capabilities) -> MonitorSettings {
        MonitorSettings(
            Metric.monitored.compactMap { metric in
                let offered = MonitorConfiguration(defaultOf: metric)?.keepingParts { field in
                    MonitorSetting(metric, field).isOffered(by: capabilities)
                }
                return offered.flatMap { $0.isEmpty ? nil : $0 }
            })
    }
}

extension MonitorConfiguration {
    /// The default monitoring of a metric, with all parts; `nil` if the metric is not monitored.
    init?(defaultOf metric: Metric) {
        guard let row = metric.monitoring else { return nil }
        self.init(of: metric) { field in
            switch field {
            case .scheduleEnabled, .enabled: .toggle(false)
            case .scheduleStart: .number(Double(row.schedule.start))
            case .scheduleEnd: .number(Double(row.schedule.end))
            case .scheduleInterval: .number(Double(row.schedule.interval))
            case .lower(let subject):
                row.limits.first { $0.subject == subject }.map { .number($0.range.lowerBound) }
            case .upper(let subject):
                row.limits.first { $0.subject == subject }.map { .number($0.range.upperBound) }
            case .exerciseMaximum: row.exerciseMaximum.map { .number(Double($0)) }
            }
        }
    }
}
