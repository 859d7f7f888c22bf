/// The sample with the highest or lowest value so far. Of equal values the first counts: the one that starts earlier, then
/// ends earlier, then has the lower identity, so that the order of arrival does not matter.
struct Extreme: Sendable, Hashable {
    /// The sample in a box: it is looked at rarely, and replaced more rarely still.
    private indirect enum Held: Sendable, Hashable {
        case nothing
        case sample(StoredSample)
    }
    private var held = Held.nothing
    private var value = 0.0
    private let side: AlertRule.Side

    /// The sample, `nil` before the first one.
    var sample: StoredSample? { if case .sample(let sample) = held { sample } else { nil } }

    /// The extreme on this side.
    init(_ side: AlertRule.Side) { self.side = side }

    /// Takes in a sample with this value. What is no number is no extreme.
    mutating func add(_ candidate: StoredSample, _ candidateValue: Double) {
        guard !candidateValue.isNaN else { return }
        if case .sample(let sample) = held {
            let isFurther = side == .high ? candidateValue > value : candidateValue < value
            guard isFurther || (candidateValue == value && candidate.isBefore(sample)) else { return }
        }
        (held, value) = (.sample(candidate), candidateValue)
    }
}

extension StoredSample {
    /// Whether this sample comes first in the order of start, end and identity.
    func isBefore(_ other: StoredSample) -> Bool {
        (sample.start, sample.end, id.high, id.low) < (
            other.sample.start, other.sample.end, other.id.high, other.id.low
        )
    }
}
