extension MonitorSetting {
    /// Which numbers a setting may hold.
    public struct Range: Sendable, Hashable {
        /// The lowest and the highest number.
        public var bounds: ClosedRange<Double>
        /// The distance of two neighbouring numbers; every number is a multiple of it.
        public var step: Double
        /// The unit, `nil` for the scale of stress.
        public var unit: String?

        /// Numbers within `bounds`, `step` apart.
        public init(_ bounds: ClosedRange<Double>, step: Double, unit: String?) {
            self.bounds = bounds
            self.step = step
            self.unit = unit
        }

        /// Whether a number is one of the range.
        ///
        /// A tenth has no exact binary form, so the number of steps may be off a whole one by what rounding makes.
        public func contains(_ number: Double) -> Bool {
            guard bounds.contains(number) else { return false }
            let steps = number / step
            return abs(steps - steps.rounded()) < 1e-6
        }

        /// What a number must be, for a person.
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
    /// Minutes between two measurements: up to a day, in fives, since devices take no others.
    public static let intervalBounds = 5.0...1440
    /// The step of `intervalBounds`.
    public static let intervalStep = 5.0

    /// Which numbers the setting may hold; `nil` for an on/off setting, and for one that its metric does not have.
    public var range: Range? {
        guard exists else { return nil }
        switch field.kind {
        case .toggle: return nil
        case .timeOfDay: return Range(0...Double(TimeOfDay.endOfDay), step: 1, unit: "min")
        case .interval: return Range(Self.intervalBounds, step: Self.intervalStep, unit: "min")
        case .exerciseMaximum: return Range(Self.exerciseMaximumBounds, step: 1, unit: metric.unit)
        case .limit:
            return metric.range.map { Range($0, step: metric == .temperature ? 0.1 : 1, unit: metric.unit) }
        }
    }
}
