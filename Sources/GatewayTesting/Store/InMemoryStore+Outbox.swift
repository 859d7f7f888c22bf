package import Engines
package import Vitals

extension InMemoryStore {
    /// For so long the same command gets the same answer.
    private static let commandMemory: Duration = .minutes(10)

    /// Begins a command.
    package func begin(
        _ envelope: CommandEnvelope, key: String, at: Timestamp
    ) async throws(StoreError) -> CommandBeginning {
        try transaction(.command) { state in
            if let old = state.commands[key], at - old.begunAt < Self.commandMemory {
                return old.payload.map { .answered($0) } ?? .running
            }
            state.commands[key] = Command(envelope: envelope, begunAt: at, payload: nil)
            return .new
        }
    }

    /// Keeps an answer, which waits for the broker from now on.
    package func finish(_ answer: StoredAnswer) async throws(StoreError) {
        try transaction(.command) { state in
            state.commands[answer.key]?.payload = answer.payload
            state.answers.append((Int64(state.answers.count) + 1, answer))
        }
    }

    /// Commands without an answer.
    package func unanswered() async throws(StoreError) -> [(key: String, envelope: CommandEnvelope)] {
        try transaction(.command) { state in
            state.commands.filter { $0.value.payload == nil }.sorted { $0.key < $1.key }.map {
                ($0.key, $0.value.envelope)
            }
        }
    }

    /// Facts of a lane that wait.
    package func pending(_ lane: Lane, after: Int64, limit: Int) async throws(StoreError) -> [Fact] {
        try transaction(.facts) { state in
            let begin = max(after, state.acknowledged[lane] ?? 0)
            return Array(state.facts.lazy.filter { $0.lane == lane && $0.sequence > begin }.prefix(max(0, limit)))
        }
    }

    /// Answers that wait.
    package func pendingAnswers(
        after: Int64, limit: Int
    ) async throws(StoreError) -> [(number: Int64, answer: StoredAnswer)] {
        try transaction(.facts) { state in
            let begin = max(after, state.acknowledged[.answer] ?? 0)
            return Array(state.answers.lazy.filter { $0.number > begin }.prefix(max(0, limit)))
        }
    }

    /// The broker has everything up to a number.
    package func acknowledge(_ lane: Lane, through: Int64) async throws(StoreError) {
        try transaction(.facts) { state in
            state.acknowledged[lane] = max(state.acknowledged[lane] ?? 0, through)
        }
    }

    /// Facts by their numbers.
    package func facts(_ numbers: ClosedRange<Int64>, limit: Int) async throws(StoreError) -> [Fact] {
        try transaction(.facts) { state in
            Array(state.facts.lazy.filter { numbers.contains($0.sequence) }.prefix(max(0, limit)))
        }
    }

    /// What waits, by lane; nothing is ever dropped.
    package func statistics() async throws(StoreError) -> StoreStatistics {
        try transaction(.read) { state in
            var statistics = StoreStatistics()
            for fact in state.facts where fact.sequence > state.acknowledged[fact.lane] ?? 0 {
                statistics.pending[fact.lane, default: 0] += 1
            }
            statistics.pending[.answer] = state.answers.count { $0.number > state.acknowledged[.answer] ?? 0 }
            return statistics
        }
    }

    /// There is nothing to clean.
    package func clean(at: Timestamp, byAge: Bool) async throws(StoreError) -> Bool { false }
}
