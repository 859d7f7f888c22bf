extension MonitorSetting {
    /// The numbers that a setting may hold.
    public struct Range: Sendable, Hashable {
        /// The lowest and the highest number.
        public var bounds: ClosedRange<Double>
        /// The distance between neighbouring numbers; every number is a multiple of it.
        public var step: Double
        /// The unit; `nil` for stress.
        public var unit: String?

        /// Numbers within `bounds`, `step` apart.
        public init(_ bounds: ClosedRange<Double>, step: Double, unit: String?) {
            self.bounds = bounds
            self.step = step
            self.unit = unit
        }

        /// Whether the range contains a number.
        ///
        /// Tolerates rounding in the number of steps, since a tenth has no exact binary form.
        public func contains(_ number: Double) -> Bool {
            guard bounds.contains(number) else { return false }
            let steps = number / step
            return abs(steps - steps.rounded()) < 1e-6
        }

        /// What the number must be, as text for people.
        var requirement: String {
            let numbers =
                switch step {
                case 1: "a whole number"
                case 0.1: "a number with at most one decimal"
                default: "a multiple of \(step.shortText)"
                }
            return "must be \(numbers) from \(bounds.lowerBound.shortText) to \(bounds.upperBound.shortText)"
                + (unit.map { " \($0)" } ?? "")
        }
    }

    /// The highest heart rate in exercise, in bpm: 220 minus an age from 0 to 120.
    public static let exerciseMaximumBounds = 100.0...220
    /// Minutes between two measurements: up to a day, in multiples of 5, as devices accept no others.
    public static let intervalBounds = 5.0...1440
    /// The step of `intervalBounds`.
    public static let intervalStep = 5.0

    /// The distance between neighbouring limits of a rate.
    static let rateStep = 0.1

    /// The numbers that the setting may hold; `nil` for an on/off setting, and for one that its metric does not have.
    public var range: Range? {
        guard exists else { return nil }
        switch field.kind {
        case .toggle: return nil
        case .timeOfDay: return Range(0...Double(TimeOfDay.endOfDay), step: 1, unit: "min")
        case .interval: return Range(Self.intervalBounds, step: Self.intervalStep, unit: "min")
        case .exerciseMaximum: return Range(Self.exerciseMaximumBounds, step: 1, unit: metric.unit)
        case .limit:
            if field.group == AlertGroup.rate.rawValue {
                return Range(RateOfChange.bounds, step: Self.rateStep, unit: AlertRule(metric, .rate, .high).unit)
            }
            return metric.range.map { Range($0, step: metric.limitStep, unit: metric.unit) }
        }
    }
}

extension Metric {
    /// The distance between neighbouring limits: one unit of the last decimal.
    fileprivate var limitStep: Double { (0..<decimals).reduce(1) { step, _ in step / 10 } }
}
