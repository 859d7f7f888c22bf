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
