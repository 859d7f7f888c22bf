extension MonitorSetting {
    /// All settings, by metric in the order of `Metric.monitored`, then in the order of `Field.all(of:)`.
    public static let all: [MonitorSetting] = Metric.monitored.flatMap { metric in
        Field.all(of: metric).map { MonitorSetting(metric, $0) }
    }

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })
    private static let known = Set(all)

    /// The setting with this path, such as `heart_rate.resting_alert.upper`; `nil` if there is none.
    public init?(path: String) {
        guard let setting = Self.byPath[path] else { return nil }
        self = setting
    }

    /// Whether the metric has this setting.
    public var exists: Bool { Self.known.contains(self) }

    /// If this is the second of a pair whose first setting must be below it, the first one; else `nil`.
    var lowerOfPair: MonitorSetting? {
        switch field {
        case .scheduleEnd: MonitorSetting(metric, .scheduleStart)
        case .upper(let subject): MonitorSetting(metric, .lower(subject))
        default: nil
        }
    }
}

extension MonitorSetting.Field {
    /// The fields of a metric, those of a group together; empty for a metric that is not monitored.
    public static func all(of metric: Metric) -> [MonitorSetting.Field] { byMetric[metric] ?? [] }

    private static let byMetric = Dictionary(uniqueKeysWithValues: Metric.monitored.map { ($0, fields(of: $0)) })

    private static func fields(of metric: Metric) -> [MonitorSetting.Field] {
        var result: [MonitorSetting.Field] = [.scheduleEnabled, .scheduleStart, .scheduleEnd, .scheduleInterval]
        for group in metric.alertGroups {
            result.append(.enabled(group))
            for subject in metric.alertSubjects where subject.group == group {
                result += [.lower(subject), .upper(subject)]
            }
        }
        return metric.distinguishesExercise ? result + [.exerciseMaximum] : result
    }
}
