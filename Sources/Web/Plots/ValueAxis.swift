/// The vertical axis: a range of values, and marks at round ones.
struct ValueAxis {
    let low: Double
    let high: Double
    /// Ascending, within the range.
    let ticks: [Double]
    /// Decimals that tell the marks apart.
    let decimals: Int

    /// How many values of the last decimal an axis spans at least: less would make noise look large.
    static let leastSpan = 4.0

    /// An axis from one value to another, or around both if they are close to each other.
    /// - Parameters:
    ///   - bounds: what no value of the metric can be beyond; the axis does not show more than that.
    ///   - decimals: of the values.
    ///   - count: about how many spaces there are between marks.
    init(_ lowest: Double, _ highest: Double, bounds: ClosedRange<Double>? = nil, decimals: Int, count: Int) {
        var (lower, upper) = (min(lowest, highest), max(lowest, highest))
        // Numbers beyond a billion have been clamped, so this stays exact enough to tell marks apart.
        let least = max(Self.leastSpan * Self.unit(decimals), max(lower.magnitude, upper.magnitude) * 1e-9)
        if upper - lower < least {
            let middle = (lower + upper) / 2
            (lower, upper) = (middle - least / 2, middle + least / 2)
        }
        if let bounds, bounds.upperBound - bounds.lowerBound > least {
            // Not into what cannot be, unless a value is there.
            if lowest >= bounds.lowerBound, lower < bounds.lowerBound {
                (lower, upper) = (bounds.lowerBound, max(upper, bounds.lowerBound + least))
            }
            if highest <= bounds.upperBound, upper > bounds.upperBound {
                (lower, upper) = (min(lower, bounds.upperBound - least), bounds.upperBound)
            }
        }
        (low, high) = (lower, upper)
        let step = Self.roundStep((upper - lower) / Double(max(count, 1)))
        // What is at an end but for the error of the division is a mark.
        let (first, last) = ((lower / step - 1e-6).rounded(.up), (upper / step + 1e-6).rounded(.down))
        ticks = first <= last ? stride(from: first, through: last, by: 1).prefix(count * 3 + 2).map { $0 * step } : []
        var (places, unit) = (0, step)
        while places < PlotNumber.maximumDecimals, (unit - unit.rounded()).magnitude > 1e-6 {
            unit *= 10
            places += 1
        }
        self.decimals = places
    }

    /// An axis of values with room for marks above and below, and of what is near them, such as limits. What is further away than
    /// the values are from each other would only press them together.
    init(
        values: ClosedRange<Double>?, near others: [Double], bounds: ClosedRange<Double>?, decimals: Int, count: Int
    ) {
        guard let values else {
            let shown = others + [bounds?.lowerBound, bounds?.upperBound].compactMap { $0 }
            self.init(shown.min() ?? 0, shown.max() ?? 1, bounds: bounds, decimals: decimals, count: count)
            return
        }
        let (lowest, highest) = (values.lowerBound, values.upperBound)
        let reach = max(highest - lowest, 10 * Self.unit(decimals))
        let near = others.filter { $0 >= lowest - reach && $0 <= highest + reach }
        let (bottom, top) = (min(near.min() ?? lowest, lowest), max(near.max() ?? highest, highest))
        let span = max(top - bottom, Self.leastSpan * Self.unit(decimals))
        var (lower, upper) = (
            min(bottom - 0.04 * span, lowest - 0.1 * span),
            max(top + 0.04 * span, highest + max(0.05 * span, Self.unit(decimals)))
        )
        if let bounds {
            // A value at a bound is at the end.
            if lowest >= bounds.lowerBound { lower = max(lower, bounds.lowerBound) }
            if highest <= bounds.upperBound { upper = min(upper, bounds.upperBound) }
        }
        self.init(lower, upper, bounds: bounds, decimals: decimals, count: count)
    }

    /// The last decimal.
    private static func unit(_ decimals: Int) -> Double {
        (0..<min(max(decimals, 0), PlotNumber.maximumDecimals)).reduce(1) { unit, _ in unit / 10 }
    }

    /// The next of 1, 2 and 5 times a power of ten, or 25 times one.
    private static func roundStep(_ wanted: Double) -> Double {
        var power = 1.0
        while power * 10 <= wanted { power *= 10 }
        while power > wanted { power /= 10 }
        for factor in [1.0, 2, 2.5, 5] where power * factor >= wanted * 0.999 && (factor != 2.5 || power >= 10) {
            return power * factor
        }
        return power * 10
    }

    /// The texts of the marks.
    var labels: [String] { ticks.map { PlotNumber.text($0, decimals: decimals) } }
}
