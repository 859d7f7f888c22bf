extension AlertRule {
    /// The rules that apply to samples of a metric: a resting heart rate is checked against the resting limits of the
    /// heart rate. Empty for a metric without limits.
    public static func watching(_ metric: Metric) -> [AlertRule] { byMetric[metric] ?? [] }

    private static let byMetric: [Metric: [AlertRule]] = {
        var result = Dictionary(grouping: all, by: \.metric)
        for metric in Metric.allCases {
            guard let whole = metric.restOf else { continue }
            result[metric] = result[whole]?.filter { $0.subject == .resting }
        }
        return result
    }()

    /// Whether a device with these capabilities provides values for this rule. The device need not raise alerts itself:
    /// the gateway checks limits, those in exercise only if exercise is recognised (``Capabilities/recognisesExercise``).
    /// What only a device can warn of it must say that it does.
    public func isOffered(by capabilities: Capabilities) -> Bool {
        if warning != nil { return capabilities.supports(.warnings, metric) }
        return switch subject {
        case .exercise: capabilities.recognisesExercise
        case .resting: capabilities.supports(metric) || capabilities.supportsRest(of: metric)
        default: capabilities.supports(metric)
        }
    }

    /// The limit of this rule; `nil` if its alert is off or has no limit.
    public func limit(in settings: MonitorSettings) -> Double? {
        guard let limits = settings[metric]?.limits[subject], limits.isEnabled else { return nil }
        return side == .high ? limits.upper : limits.lower
    }

    /// The value of a sample that this rule watches; `nil` if there is none. One sample has no rate (``RateOfChange``).
    ///
    /// Heart rates in exercise go by the exercise limits; all others, including resting heart rates and heart rates
    /// that the device calls resting, go by the resting limits.
    /// - Parameters:
    ///   - sample: the sample.
    ///   - isExercise: whether the person was exercising: as the sample says, or by the sport session around it.
    public func value(in sample: Sample, isExercise: Bool) -> Double? {
        guard warning == nil else { return nil }
        let whole = sample.metric.restOf
        guard metric == whole ?? sample.metric else { return nil }
        switch sample.reading {
        case .value(let value):
            let isAtRest = whole != nil || sample.kind == .resting || !isExercise
            return subject == (metric.distinguishesExercise ? isAtRest ? .resting : .exercise : .value) ? value : nil
        case .bloodPressure(let pressure):
            return subject == .systolic ? pressure.systolic : subject == .diastolic ? pressure.diastolic : nil
        case .count, .sleep, .sport: return nil
        }
    }

    /// Whether a value is beyond the limit. A value equal to the limit is not.
    public func isBeyond(_ value: Double, _ limit: Double) -> Bool { side == .high ? value > limit : value < limit }

    /// Whether a value is far enough within the limit to clear the alert: by at least `hysteresis`, or as far as the
    /// metric's range allows. (With a lower blood oxygen limit of 100 %, a value of 100 clears the alert.)
    public func isBack(_ value: Double, _ limit: Double, hysteresis: Double) -> Bool {
        switch side {
        case .high: value <= max(limit - hysteresis, min(limit, range?.lowerBound ?? limit))
        case .low: value >= min(limit + hysteresis, max(limit, range?.upperBound ?? limit))
        }
    }

    /// Whether any possible value is beyond the limit: blood oxygen has none above 100 %.
    public func canBePassed(_ limit: Double) -> Bool {
        guard let range else { return true }
        return isBeyond(side == .high ? range.upperBound : range.lowerBound, limit)
    }
}

extension Capabilities {
    /// Whether the device has a metric that holds the resting values of this one.
    func supportsRest(of metric: Metric) -> Bool { metrics.keys.contains { $0.restOf == metric } }
}
