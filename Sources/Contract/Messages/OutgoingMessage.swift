/// A message as the contract wants it, with quality of service 1. What MQTT 3.1.1 cannot carry is left out there.
package struct OutgoingMessage: Sendable, Hashable {
    /// Where to.
    package var topic: String
    /// The content; empty and retained deletes what the broker keeps.
    package var payload: [UInt8]
    /// Whether the broker keeps it for later subscribers.
    package var isRetained: Bool
    /// After what time the broker forgets it; `nil` for never.
    package var expiry: Duration?
    /// `application/json`, or `nil` for the two plain topics and for an empty payload.
    package var contentType: String?
    /// Of an answer, what tells the asker which question it belongs to.
    package var correlation: [UInt8]?

    /// The media type of everything but the two plain topics.
    package static let json = "application/json"

    /// A message.
    package init(
        topic: String, payload: [UInt8], isRetained: Bool, expiry: Duration? = nil, contentType: String? = json,
        correlation: [UInt8]? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.expiry = expiry
        self.contentType = contentType
        self.correlation = correlation
    }

    /// The final answer of a command as it was kept: what was written once is sent as it is, however often.
    package static func answer(topic: String, payload: [UInt8], correlation: [UInt8]?) -> OutgoingMessage {
        OutgoingMessage(
            topic: topic, payload: payload, isRetained: false, expiry: Topic.gatewayResponse.expiry,
            correlation: correlation)
    }

    /// Deletes what the broker keeps of a topic.
    package static func removal(of topic: String) -> OutgoingMessage {
        OutgoingMessage(topic: topic, payload: [], isRetained: true, contentType: nil)
    }

    /// Whether the payload is text, which MQTT 5 can declare.
    package var isText: Bool { !payload.isEmpty }
}
