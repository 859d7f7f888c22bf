extension AlertRule {
    /// The rules that a sample of a metric may touch: a resting heart rate is checked against the resting limits of the
    /// heart rate. Empty for a metric without limits.
    public static func watching(_ metric: Metric) -> [AlertRule] { byMetric[metric] ?? [] }

    private static let byMetric: [Metric: [AlertRule]] = {
        var result = Dictionary(grouping: all, by: \.metric)
        result[.restingHeartRate] = result[.heartRate]?.filter { $0.subject == .resting }
        return result
    }()

    /// Whether a device of these capabilities has values that the rule watches. It need not raise alerts itself: limits
    /// are the gateway's own work.
    public func isOffered(by capabilities: Capabilities) -> Bool {
        capabilities.supports(metric) || subject == .resting && capabilities.supports(.restingHeartRate)
    }

    /// The limit of this rule; `nil` where its alert is off or where it has none.
    public func limit(in settings: MonitorSettings) -> Double? {
        let fields = fields
        guard settings[metric, fields.enabled] == .toggle(true),
            case .number(let limit) = settings[metric, side == .high ? fields.upper : fields.lower]
        else { return nil }
        return limit
    }

    /// The value of a sample that this rule watches; `nil` where it watches none of it.
    ///
    /// Heart rates in exercise are for the exercise limits, all others for the resting limits, as are resting heart rates
    /// and heart rates that the device itself calls resting.
    /// - Parameters:
    ///   - sample: the sample.
    ///   - isExercise: whether the person was exercising: as the sample says, or by the sport session around it.
    public func value(in sample: Sample, isExercise: Bool) -> Double? {
        switch (sample.metric, sample.reading) {
        case (.restingHeartRate, .value(let value)):
            return metric == .heartRate && subject == .resting ? value : nil
        case (.heartRate, .value(let value)):
            let wanted: Subject = isExercise && sample.kind != .resting ? .exercise : .resting
            return metric == .heartRate && subject == wanted ? value : nil
        case (.bloodPressure, .bloodPressure(let pressure)):
            guard metric == .bloodPressure else { return nil }
            return subject == .systolic ? pressure.systolic : subject == .diastolic ? pressure.diastolic : nil
        case (metric, .value(let value)): return subject == .value ? value : nil
        default: return nil
        }
    }

    /// Whether a value is beyond the limit. A value equal to the limit is not.
    public func isBeyond(_ value: Double, _ limit: Double) -> Bool { side == .high ? value > limit : value < limit }

    /// Whether a value is so far within the limit that the alert is over: at least by `hysteresis`, or as far as the metric
    /// reaches. (A blood oxygen that must not be below 100 % is back at 100, and not at 101.)
    public func isBack(_ value: Double, _ limit: Double, hysteresis: Double) -> Bool {
        switch side {
        case .high: value <= max(limit - hysteresis, min(limit, metric.range?.lowerBound ?? limit))
        case .low: value >= min(limit + hysteresis, max(limit, metric.range?.upperBound ?? limit))
        }
    }

    private var fields: (enabled: MonitorSetting.Field, lower: MonitorSetting.Field, upper: MonitorSetting.Field) {
        switch subject {
        case .value: (.alertEnabled, .alertLower, .alertUpper)
        case .resting: (.restingAlertEnabled, .restingAlertLower, .restingAlertUpper)
        case .exercise: (.exerciseAlertEnabled, .exerciseAlertLower, .exerciseAlertUpper)
        case .systolic: (.alertEnabled, .systolicLower, .systolicUpper)
        case .diastolic: (.alertEnabled, .diastolicLower, .diastolicUpper)
        }
    }
}
