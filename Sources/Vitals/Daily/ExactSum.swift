/// A sum that does not depend on the order of its terms, as one of floating-point numbers would: each term is taken to
/// a thousandth, and thousandths are added as whole numbers.
struct ExactSum: Sendable, Hashable {
    private var thousandths: Int64 = 0
    /// How many terms there are.
    private(set) var count: Int64 = 0

    /// Terms beyond it count as it: far more than any valid reading, and few enough for nine million of them in 64 bits.
    private static let termLimit = 1e9

    /// Adds a term; nothing for `nil` and for what is no number.
    mutating func add(_ term: Double?) {
        guard let term, !term.isNaN else { return }
        let bounded = min(max(term, -Self.termLimit), Self.termLimit)
        thousandths = thousandths.saturatingSum(Int64((bounded * 1000).rounded()))
        count += 1
    }

    /// The sum, `nil` without any term.
    var total: Double? { count == 0 ? nil : Double(thousandths) / 1000 }

    /// The mean to one decimal, halves away from zero; `nil` without any term.
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
/// A device that marks a sample as the maximum or minimum of a period repeats what its ordinary samples say or said, so
/// such samples would pull the mean to the extremes. They count in it only on a day that has no other samples.
struct DailyMean: Sendable, Hashable {
    private var ordinary = ExactSum()
    private var extreme = ExactSum()

    /// Takes in a value of a sample of this kind.
    mutating func add(_ value: Double?, _ kind: Sample.Kind) {
        switch kind {
        case .normal, .resting: ordinary.add(value)
        case .maximum, .minimum: extreme.add(value)
        }
    }

    /// The mean to one decimal, `nil` without any value.
    var value: Double? { ordinary.mean ?? extreme.mean }
}
