/// How fast a value changes, from one sample to a later one: in the unit of the metric per minute, negative where it falls.
///
/// Sensors of glucose send a value each minute or every five. Two values a minute apart show their noise more than a change, and two
/// that are far apart say nothing of the present: so the newest earlier value counts that is `span` away.
public struct RateOfChange: Sendable, Hashable {
    /// The time between the two values.
    public static let span: ClosedRange<Duration> = .minutes(4) ... .minutes(15)
    /// Limits of a rate, in the metric's unit per minute: sensors of glucose show up to 4 mg/dL in a minute as the fastest.
    public static let bounds = -20.0...20
    /// How far a rate must come back within its limit before an alert clears.
    public static let hysteresis = 0.5
    /// The most samples that are kept: one each minute, and some that come again.
    public static let capacity = 20

    private var values: [Value] = []

    private struct Value: Sendable, Hashable {
        var kind: Sample.Kind
        var at: Timestamp
        var value: Double
    }

    /// No value yet.
    public init() {}

    /// Adds a sample. One that is not newer than the newest begins anew.
    /// - Returns: the rate at its end; `nil` if no earlier value of its kind is `span` away, as after a gap.
    public mutating func add(_ sample: Sample) -> Double? {
        guard case .value(let value) = sample.reading else { return nil }
        let (kind, at) = (sample.kind, sample.end)
        if let newest = values.last, newest.at >= at { values = [] }
        values.removeAll { at - $0.at > Self.span.upperBound }
        let earlier = values.last { $0.kind == kind && at - $0.at >= Self.span.lowerBound }
        values.append(Value(kind: kind, at: at, value: value))
        if values.count > Self.capacity { values.removeFirst() }
        guard let earlier else { return nil }
        // Hundredths, as limits are tenths.
        return (100 * (value - earlier.value) / ((at - earlier.at) / .minutes(1))).rounded() / 100
    }
}
