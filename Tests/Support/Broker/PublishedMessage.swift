package import MQTT

/// A message that a broker has accepted.
package struct PublishedMessage: Sendable, Equatable {
    /// The client that published it; `nil` for the test itself.
    package var client: String?
    /// The message as it was sent.
    package var message: OutgoingMessage
    /// Whether it is the will of a client that has disconnected.
    package var isWill: Bool
    /// When it was published, on the broker's clock.
    package var uptime: Duration

    /// The levels of its topic, without empty ones.
    package var levels: [Substring] {
        // Characters are slower to split than bytes, and a simulation splits every topic.
        message.topic.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
    }

    /// The payload as text; invalid UTF-8 becomes replacement characters.
    package var text: String { String(decoding: message.payload, as: UTF8.self) }
}
