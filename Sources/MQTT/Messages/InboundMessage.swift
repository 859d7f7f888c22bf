/// A message received through a subscription.
package struct InboundMessage: Sendable, Hashable {
    /// The topic of publication.
    package var topic: String
    /// The content, cut to `BrokerOptions.maximumInboundPayload` bytes.
    package var payload: [UInt8]
    /// The original length of the content in bytes.
    package var payloadSize: Int
    /// The quality of service of the delivery.
    package var qos: QualityOfService
    /// With `Subscription.retainsAsPublished` (MQTT 5), whether it was published with retain; otherwise whether the
    /// broker already stored it when the client subscribed.
    package var isRetained: Bool
    /// The topic for an answer; MQTT 5 only.
    package var responseTopic: String?
    /// The data that an answer must repeat; MQTT 5 only.
    package var correlationData: [UInt8]?
    /// The remaining lifetime at delivery; MQTT 5 only.
    package var expiry: Duration?

    /// A message; `payloadSize` is the size of `payload` unless given.
    package init(
        topic: String, payload: [UInt8], payloadSize: Int? = nil, qos: QualityOfService = .atLeastOnce,
        isRetained: Bool = false, responseTopic: String? = nil, correlationData: [UInt8]? = nil,
        expiry: Duration? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.payloadSize = payloadSize ?? payload.count
        self.qos = qos
        self.isRetained = isRetained
        self.responseTopic = responseTopic
        self.correlationData = correlationData
        self.expiry = expiry
    }

    /// Bytes of all fields whose length the sender chooses.
    package var size: Int {
        topic.utf8.count + payload.count + (responseTopic?.utf8.count ?? 0) + (correlationData?.count ?? 0)
    }

    /// The message with at most so many bytes of its content.
    package func cut(to count: Int) -> InboundMessage {
        guard payload.count > count else { return self }
        var message = self
        message.payload = Array(payload.prefix(count))
        return message
    }

    /// Whether `payload` is only the start of the content.
    package var isCut: Bool { payloadSize > payload.count }
}
