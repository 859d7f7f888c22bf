/// A sum that does not depend on the order of its terms, unlike a floating-point sum: terms are rounded to thousandths
/// and added as integers.
struct ExactSum: Sendable, Hashable {
    private var thousandths: Int64 = 0
    /// Number of terms.
    private(set) var count: Int64 = 0

    /// Larger terms are clamped to this: it exceeds every valid reading, and nine million of it fit into 64 bits.
    private static let termLimit = 1e9

    /// Adds a term; ignores `nil` and NaN.
    mutating func add(_ term: Double?) {
        guard let term, !term.isNaN else { return }
        let bounded = min(max(term, -Self.termLimit), Self.termLimit)
        thousandths = thousandths.saturatingSum(Int64((bounded * 1000).rounded()))
        count += 1
    }

    /// The sum; `nil` without terms.
    var total: Double? { count == 0 ? nil : Double(thousandths) / 1000 }

    /// The mean to one decimal, rounding halves away from zero; `nil` without terms.
    var mean: Double? {
        guard count > 0 else { return nil }
        let divisor = count * 100  // thousandths to tenths
        let (tenths, rest) = thousandths.quotientAndRemainder(dividingBy: divisor)
        let isUp = rest.magnitude * 2 >= divisor.magnitude
        return Double(tenths + (isUp ? rest.signum() : 0)) / 10
    }
}

/// The mean of a day's values.
///
/// A sample marked as the maximum or minimum of a period repeats the value of an ordinary one and would distort the
/// mean. Such samples only count on a day without others.
struct DailyMean: Sendable, Hashable {
    private var ordinary = ExactSum()
    private var extreme = ExactSum()

    /// Adds a value of a sample of this kind.
    mutating func add(_ value: Double?, _ kind: Sample.Kind) {
        switch kind {
        case .normal, .resting: ordinary.add(value)
        case .maximum, .minimum: extreme.add(value)
        }
    }

    /// The mean to one decimal; `nil` without values.
    var value: Double? { ordinary.mean ?? extreme.mean }
}
