package import MQTT

/// A message that a broker took over.
package struct PublishedMessage: Sendable, Equatable {
    /// The client that published it; `nil` for the test itself.
    package var client: String?
    /// The message as it was sent.
    package var message: OutboundMessage
    /// Whether the broker published it in the client's name, because the client was gone.
    package var isWill: Bool
    /// When, on the clock of the broker.
    package var uptime: Duration

    /// The payload as text; bytes that are not UTF-8 become replacement characters.
    package var text: String { String(decoding: message.payload, as: UTF8.self) }
}
