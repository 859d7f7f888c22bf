extension MonitorSetting {
    /// Every setting there is, by metric in the order of `Metric.monitored` and then in that of `Field.allCases`.
    public static let all: [MonitorSetting] = Metric.monitored.flatMap { metric in
        Field.allCases.filter { $0.exists(for: metric) }.map { MonitorSetting(metric, $0) }
    }

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })

    /// The setting at this path, such as `heart_rate.resting_alert.upper`; `nil` where there is none.
    public init?(path: String) {
        guard let setting = Self.byPath[path] else { return nil }
        self = setting
    }

    /// Whether the metric has such a setting at all.
    public var exists: Bool { field.exists(for: metric) }
}

extension MonitorSetting.Field {
    /// Whether a metric has this field: heart rate has limits for rest and exercise, blood pressure for two pressures,
    /// the other monitored metrics for one value.
    public func exists(for metric: Metric) -> Bool {
        switch self {
        case .scheduleEnabled, .scheduleStart, .scheduleEnd, .scheduleInterval: Metric.monitored.contains(metric)
        case .alertEnabled: Metric.monitored.contains(metric) && metric != .heartRate
        case .alertLower, .alertUpper:
            Metric.monitored.contains(metric) && metric != .heartRate && metric != .bloodPressure
        case .systolicLower, .systolicUpper, .diastolicLower, .diastolicUpper: metric == .bloodPressure
        case .restingAlertEnabled, .restingAlertLower, .restingAlertUpper, .exerciseAlertEnabled, .exerciseAlertLower,
            .exerciseAlertUpper, .exerciseMaximum:
            metric == .heartRate
        }
    }

    /// Of two fields of which the first must be below the second, the second.
    static let pairs: [(lower: MonitorSetting.Field, upper: MonitorSetting.Field)] = [
        (.scheduleStart, .scheduleEnd), (.alertLower, .alertUpper), (.systolicLower, .systolicUpper),
        (.diastolicLower, .diastolicUpper), (.restingAlertLower, .restingAlertUpper),
        (.exerciseAlertLower, .exerciseAlertUpper),
    ]
}
