/// A message that a subscription brought.
package struct InboundMessage: Sendable, Hashable {
    /// Where it was published.
    package var topic: String
    /// The content, cut to `BrokerOptions.maximumInboundPayload` bytes.
    package var payload: [UInt8]
    /// How long the content was before it was cut, in bytes.
    package var payloadSize: Int
    /// How it was delivered.
    package var qos: QualityOfService
    /// With `Subscription.retainsAsPublished` (MQTT 5) whether it was published with retain; else whether the broker
    /// had it in store when the subscription was made.
    package var isRetained: Bool
    /// Where an answer is wanted; MQTT 5 only.
    package var responseTopic: String?
    /// What an answer must repeat; MQTT 5 only.
    package var correlationData: [UInt8]?
    /// What is left of its life when it was delivered; MQTT 5 only.
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

    /// Whether `payload` is only the beginning of the content.
    package var isCut: Bool { payloadSize > payload.count }
}
