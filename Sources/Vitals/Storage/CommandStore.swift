/// The store of the command log.
package protocol CommandStore: Sendable {
    /// Begins a command. Returns its state or answer if one with the same key was begun within `StoredAnswer.memory`.
    /// - Parameter key: begins with the scope of the envelope and a space.
    func begin(_ envelope: CommandEnvelope, key: String, at: Timestamp) async throws(StoreError) -> CommandBeginning
    /// Stores a command's final answer (as payload), to be sent from the store.
    /// - Throws: `answersWait` if too many wait for the broker, and the command was not begun.
    func complete(_ answer: StoredAnswer) async throws(StoreError)
    /// A page of the commands that were begun but never answered, because the gateway crashed, oldest first.
    /// - Parameter after: the number of the last command of the page before; 0 for the first page.
    func unanswered(after: Int64, limit: Int) async throws(StoreError) -> [UnansweredCommand]
}

/// A command that was begun and has no answer.
package struct UnansweredCommand: Sendable, Hashable {
    /// Its number in the log, ascending in the order in which commands began.
    package var number: Int64
    /// Its key in the log.
    package var key: String
    package var envelope: CommandEnvelope

    package init(number: Int64, key: String, envelope: CommandEnvelope) {
        self.number = number
        self.key = key
        self.envelope = envelope
    }
}

/// The result of beginning a command.
package enum CommandBeginning: Sendable, Hashable {
    /// The command is new.
    case new
    /// The same command is still running; its answer follows.
    case running
    /// The same command was answered recently, with this payload.
    case answered([UInt8])
    /// The key belongs to a command with another content: this one was not begun and must not run.
    case reused
    /// Too many answers wait for the broker, in all or of this scope: the command was not begun and must not run.
    case full
}

/// The final answer to a command, as sent.
package struct StoredAnswer: Sendable, Hashable {
    /// How long an answer is remembered: until then, the same command with the same id gets the same answer.
    package static let memory: Duration = .minutes(10)

    /// The command's key in the log.
    package var key: String
    /// The command's content, as in its envelope.
    package var content: SampleID?
    package var topic: String
    package var correlation: [UInt8]?
    package var payload: [UInt8]
    package var at: Timestamp

    /// Its bytes: payload, topic and correlation data. The limits of what is stored and held count them.
    package var size: Int { payload.count + topic.utf8.count + (correlation?.count ?? 0) }

    package init(
        key: String, content: SampleID? = nil, topic: String, correlation: [UInt8]?, payload: [UInt8], at: Timestamp
    ) {
        self.key = key
        self.content = content
        self.topic = topic
        self.correlation = correlation
        self.payload = payload
        self.at = at
    }
}
