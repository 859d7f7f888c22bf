package import Vitals

/// The store of the command log.
package protocol CommandStore: Sendable {
    /// Begins a command. Returns its state or answer if the same command was begun within `StoredAnswer.memory`.
    func begin(_ envelope: CommandEnvelope, key: String, at: Timestamp) async throws(StoreError) -> CommandBeginning
    /// Stores a command's final answer (as payload), to be sent from the store.
    /// - Throws: `answersWait` if too many wait for the broker, and the command was not begun.
    func complete(_ answer: StoredAnswer) async throws(StoreError)
    /// Commands begun but never answered, because the gateway crashed.
    func unanswered() async throws(StoreError) -> [(key: String, envelope: CommandEnvelope)]
}

/// The result of beginning a command.
package enum CommandBeginning: Sendable, Hashable {
    /// The command is new.
    case new
    /// The same command is still running; its answer follows.
    case running
    /// The same command was answered recently, with this payload.
    case answered([UInt8])
    /// Too many answers wait for the broker: the command was not begun and must not run.
    case full
}

/// The final answer to a command, as sent.
package struct StoredAnswer: Sendable, Hashable {
    /// How long an answer is remembered: until then, the same id gets the same answer.
    package static let memory: Duration = .minutes(10)

    /// The command's key in the log.
    package var key: String
    package var topic: String
    package var correlation: [UInt8]?
    package var payload: [UInt8]
    package var at: Timestamp

    package init(key: String, topic: String, correlation: [UInt8]?, payload: [UInt8], at: Timestamp) {
        self.key = key
        self.topic = topic
        self.correlation = correlation
        self.payload = payload
        self.at = at
    }
}
