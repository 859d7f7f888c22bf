/// The store of delivery: the outbox entries.
package protocol OutboxStore: Sendable {
    /// Entries of a lane that the broker has not acknowledged, with numbers greater than `after`, ascending.
    func pending(_ lane: Lane, after: Int64, limit: Int) async throws(StoreError) -> [OutboxEntry]
    /// Records that the broker has everything of a lane up to and including this number.
    func acknowledge(_ lane: Lane, through: Int64) async throws(StoreError)
    /// The same with the next commit of any cause, and without waiting for it.
    func note(_ lane: Lane, through: Int64)
    /// Facts by number: waiting, acknowledged or quarantined; those no longer stored are skipped.
    func facts(_ numbers: ClosedRange<Int64>, limit: Int) async throws(StoreError) -> [Fact]
    /// Takes facts that the broker refuses out of the outbox and keeps them apart, and makes one gap for each device and
    /// metric of them. A fact that no longer waits changes nothing; a gap is quarantined without another gap.
    func quarantine(_ facts: [RefusedFact], at: Timestamp) async throws(StoreError)
    /// Forgets that these facts were quarantined: the broker has taken them since.
    func releaseQuarantined(_ numbers: [Int64]) async throws(StoreError)
}

/// A message that waits for the broker: a fact, or the final answer to a command.
///
/// The store numbers it in the transaction that commits it, and hands it over in memory. It is read back from the store
/// only after a crash, after a new connection, or if the memory was full.
package enum OutboxEntry: Sendable, Hashable {
    case fact(Fact)
    /// An answer with its number; only answers share this sequence.
    case answer(number: Int64, StoredAnswer)

    /// Its lane, which decides its priority.
    package var lane: Lane {
        switch self {
        case .fact(let fact): fact.lane
        case .answer: .answer
        }
    }

    /// Its number within its lane, ascending in the order of the commits.
    package var number: Int64 {
        switch self {
        case .fact(let fact): fact.sequence
        case .answer(let number, _): number
        }
    }

    /// The fact; `nil` for an answer.
    package var fact: Fact? { if case .fact(let fact) = self { fact } else { nil } }
    /// The answer; `nil` for a fact.
    package var answer: StoredAnswer? { if case .answer(_, let answer) = self { answer } else { nil } }
}

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
