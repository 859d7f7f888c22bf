/// Values gathered into as many buckets as a plot can show, each with mean and extremes: one pass over any number of samples, of
/// which none is held.
package struct PlotBuckets: Sendable {
    /// No plot of values has more points than this: more than one per three pixels of a screen would only be slower.
    static let maximumCount = 400

    /// The values of a step of time.
    struct Bucket: Sendable {
        var count = 0
        /// Of the values that are no extremes of others.
        var sum = 0.0
        var weight = 0.0
        var extremeSum = 0.0
        var minimum = Double.infinity
        var maximum = -Double.infinity
        /// Milliseconds since 1970 UTC.
        var first = Int64.max
        var last = Int64.min
        /// Milliseconds from the axis' first moment, of all values.
        var timeSum = 0.0
        var hasCorrection = false

        /// Extremes of a period repeat others, and count only where there are no others.
        var mean: Double { weight > 0 ? sum / weight : extremeSum / Double(max(count, 1)) }
        /// When its values were measured, on average.
        func moment(from start: Int64) -> Int64 { start + Int64(timeSum / Double(max(count, 1))) }
    }

    /// A value and its time.
    struct Point: Sendable {
        var value: Double
        var moment: Int64
    }

    package let axis: TimeAxis
    private let edges: [Int64]
    private(set) var buckets: [Bucket]
    private var index = 0

    /// Number of values.
    package private(set) var count = 0
    /// Number of values that have replaced others.
    private(set) var corrections = 0
    private(set) var lowest: Point?
    private(set) var highest: Point?
    private(set) var newest: Point?

    /// Empty buckets for a line.
    package init(_ axis: TimeAxis) { self.init(axis, step: axis.period.lineStep) }

    init(_ axis: TimeAxis, step: Int64) {
        self.axis = axis
        edges = axis.steps(of: step)
        buckets = Array(repeating: Bucket(), count: edges.count - 1)
    }

    /// Adds a value at a moment in milliseconds since 1970 UTC. One outside of the axis, or that is no number, is left out. Values in
    /// order of time are fastest.
    /// - Parameters:
    ///   - isCorrected: whether it has replaced another value.
    ///   - isExtreme: whether it is the highest or the lowest of a period, which counts for the mean only if nothing else does.
    package mutating func add(
        _ value: Double, at moment: Int64, isCorrected: Bool = false, isExtreme: Bool = false
    ) {
        add(
            mean: value, minimum: value, maximum: value, count: 1, from: moment, to: moment, isCorrected: isCorrected,
            isExtreme: isExtreme)
    }

    /// Adds many values at once, such as those of a day, whose mean and extremes are known. They belong to the step in which `from` is.
    package mutating func add(
        mean: Double, minimum: Double, maximum: Double, count added: Int, from: Int64, to: Int64,
        isCorrected: Bool = false, isExtreme: Bool = false
    ) {
        guard from >= axis.from, from < axis.to, mean.isFinite, minimum.isFinite, maximum.isFinite, added > 0 else {
            return
        }
        find(from)
        let end = min(max(from, to), axis.to)
        let (mean, minimum, maximum) = (Self.clamped(mean), Self.clamped(minimum), Self.clamped(maximum))
        let added = min(added, 1_000_000_000)
        let number = Double(added)
        buckets[index].count += added
        if isExtreme {
            buckets[index].extremeSum += mean * number
        } else {
            buckets[index].sum += mean * number
            buckets[index].weight += number
        }
        buckets[index].minimum = min(buckets[index].minimum, minimum)
        buckets[index].maximum = max(buckets[index].maximum, maximum)
        buckets[index].first = min(buckets[index].first, from)
        buckets[index].last = max(buckets[index].last, end)
        buckets[index].timeSum += (Double(from - axis.from) + Double(end - from) / 2) * number
        count += added
        if isCorrected {
            buckets[index].hasCorrection = true
            corrections += 1
        }
        if lowest.map({ minimum < $0.value }) ?? true { lowest = Point(value: minimum, moment: from) }
        if highest.map({ maximum > $0.value }) ?? true { highest = Point(value: maximum, moment: from) }
        if newest.map({ end >= $0.moment }) ?? true { newest = Point(value: mean, moment: end) }
    }

    private static func clamped(_ value: Double) -> Double { min(max(value, -PlotNumber.maximum), PlotNumber.maximum) }

    /// Moves to the bucket of a moment: usually the same or the next one, and otherwise by halving.
    private mutating func find(_ moment: Int64) {
        if moment >= edges[index] {
            if moment < edges[index + 1] { return }
            if index + 2 < edges.count, moment < edges[index + 2] {
                index += 1
                return
            }
        }
        var (low, high) = (0, buckets.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if edges[middle] <= moment { low = middle } else { high = middle - 1 }
        }
        index = low
    }

    /// From the lowest to the highest value.
    var extent: ClosedRange<Double>? {
        guard let lowest, let highest else { return nil }
        return lowest.value...max(lowest.value, highest.value)
    }

    /// The span of a bucket.
    func span(_ index: Int) -> Range<Int64> { edges[index]..<edges[index + 1] }

    /// The mean of all values.
    var mean: Double {
        let all = buckets.reduce(into: Bucket()) { all, bucket in
            all.sum += bucket.sum
            all.weight += bucket.weight
            all.extremeSum += bucket.extremeSum
            all.count += bucket.count
        }
        return all.mean
    }

    /// The buckets with values, in runs between which no value is for longer than `bridge`.
    func runs(bridge: Int64) -> [[Int]] {
        var runs: [[Int]] = []
        var last: Int64?
        for index in buckets.indices where buckets[index].count > 0 {
            if let last, buckets[index].first - last <= bridge {
                runs[runs.count - 1].append(index)
            } else {
                runs.append([index])
            }
            last = max(last ?? .min, buckets[index].last)
        }
        return runs
    }

    /// The times without values that are longer than `bridge`, until the present moment or the end of the axis.
    func gaps(bridge: Int64, now: Int64) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var last = axis.from
        for bucket in buckets where bucket.count > 0 {
            if bucket.first - last > bridge { gaps.append(last..<bucket.first) }
            last = max(last, bucket.last)
        }
        let end = min(max(now, axis.from), axis.to)
        if end - last > bridge { gaps.append(last..<end) }
        return gaps
    }

    /// What the words of a plot say about its values, but for the values themselves.
    func describe(_ words: inout PlotWords, bridge: Int64, now: Int64) {
        let gaps = gaps(bridge: bridge, now: now)
        if let longest = gaps.max(by: { $0.upperBound - $0.lowerBound < $1.upperBound - $1.lowerBound }) {
            let text =
                "from \(axis.words(longest.lowerBound)) to \(axis.words(longest.upperBound)) "
                + "(\(PlotNumber.duration(longest.upperBound - longest.lowerBound)))"
            words.add(gaps.count == 1 ? "No values \(text)" : "\(gaps.count) gaps, the longest \(text)")
        } else {
            words.add("No gaps")
        }
        switch corrections {
        case 0: break
        case 1: words.add("1 value was corrected")
        default: words.add("\(corrections) values were corrected")
        }
    }
}
