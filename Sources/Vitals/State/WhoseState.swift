/// The question whose a sample is. It has no value: who answers sees one elsewhere, or remembers it.
package struct Question: Sendable, Hashable {
    /// The sample. What was measured with it, such as the body fat with a weight, has the same answer.
    package var id: SampleID
    package var metric: Metric
    package var measuredAt: Timestamp
    /// The users whose it may be, in the order of the rule's confidence.
    package var candidates: [Int]

    package init(id: SampleID, metric: Metric, measuredAt: Timestamp, candidates: [Int]) {
        (self.id, self.metric, self.measuredAt, self.candidates) = (id, metric, measuredAt, candidates)
    }

    /// The question of a sample; `nil` if it does not wait.
    package init?(_ stored: StoredSample) {
        guard case .asked(let candidates) = stored.sample.whose else { return nil }
        self.init(
            id: stored.id, metric: stored.sample.metric, measuredAt: stored.sample.end, candidates: candidates)
    }
}

/// The samples of a device that wait until somebody says whose they are.
package struct WhoseState: Sendable, Hashable {
    /// The most questions that the state lists: more than a household answers at once.
    package static let listed = 20

    /// The questions, the oldest first, at most `listed`.
    package var questions: [Question]
    /// Whether there are more.
    package var hasMore: Bool

    /// The state with these questions, of which it lists the first.
    package init(_ questions: [Question] = []) {
        self.questions = Array(questions.prefix(Self.listed))
        hasMore = questions.count > Self.listed
    }
}

extension Sample {
    /// Whether the question of an occasion names this sample rather than the other one.
    package func isAsked(before other: Sample) -> Bool {
        let (ours, theirs) = (metric.distinction != nil, other.metric.distinction != nil)
        return ours != theirs ? ours : metric.index < other.metric.index
    }
}
