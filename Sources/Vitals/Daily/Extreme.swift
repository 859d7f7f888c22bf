/// The sample with the highest or lowest value so far. Of equal values the first counts: by start, then end, then id,
/// so that the order of arrival does not matter.
struct Extreme: Sendable, Hashable {
    /// The sample in a box: it is rarely read, and more rarely replaced.
    private indirect enum Held: Sendable, Hashable {
        case nothing
        case sample(StoredSample)
    }
    private var held = Held.nothing
    private var value = 0.0
    private let side: AlertRule.Side

    /// The sample; `nil` before the first one.
    var sample: StoredSample? { if case .sample(let sample) = held { sample } else { nil } }

    /// An extreme on this side.
    init(_ side: AlertRule.Side) { self.side = side }

    /// Considers a sample with this value. Ignores NaN.
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
    /// Whether this sample comes first by start, end and id.
    func isBefore(_ other: StoredSample) -> Bool {
        let (ours, theirs) = (sample, other.sample)
        if ours.start != theirs.start { return ours.start < theirs.start }
        if ours.end != theirs.end { return ours.end < theirs.end }
        let (id, otherID) = (id, other.id)
        return (id.high, id.low) < (otherID.high, otherID.low)
    }
}
