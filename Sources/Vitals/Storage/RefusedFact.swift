/// A fact that the broker does not take.
package struct RefusedFact: Sendable, Hashable {
    /// Its lane and number.
    package var lane: Lane
    package var number: Int64
    /// The samples that the broker does not take; `nil` for all of the fact.
    package var samples: [StoredSample]?
    /// Why, as text for a person.
    package var reason: String

    package init(lane: Lane, number: Int64, samples: [StoredSample]? = nil, reason: String) {
        self.lane = lane
        self.number = number
        self.samples = samples
        self.reason = reason
    }
}
