package import Vitals

/// What became of a command that is to begin.
package enum CommandBeginning: Sendable, Hashable {
    /// It is new.
    case new
    /// The same was begun within ten minutes and still runs; its answer will come.
    case running
    /// The same was answered within ten minutes: the payload of its answer.
    case answered([UInt8])
}

/// The final answer of a command, as it is sent.
package struct StoredAnswer: Sendable, Hashable {
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

/// How much the store holds.
package struct StoreStatistics: Sendable, Hashable {
    /// Messages that wait for the broker, by lane.
    package var pending: [Lane: Int] = [:]
    package var oldestPendingAt: Timestamp?
    /// What was dropped since the store was made, by class.
    package var dropped: [String: Int] = [:]
    /// The size of the store's files in bytes.
    package var bytes: Int64 = 0
    /// Why the last write failed, `nil` where it did not.
    package var lastError: String?

    package init() {}
}
