/// A message to publish. The properties beside topic, payload, retain and quality of service exist in MQTT 5 only, and
/// are left out in 3.1.1.
package struct OutboundMessage: Sendable, Hashable {
    /// Where to: no wildcards, at most 65,535 bytes of UTF-8.
    package var topic: String
    /// The content; empty and retained deletes what is retained.
    package var payload: [UInt8]
    /// How it is delivered.
    package var qos: QualityOfService
    /// Whether the broker keeps it for later subscribers.
    package var isRetained: Bool
    /// After what time the broker forgets it; rounded up to whole seconds, at least one; `nil` for never.
    package var expiry: Duration?
    /// The media type of the payload.
    package var contentType: String?
    /// Whether the payload is declared to be UTF-8 text (payload format indicator 1).
    package var isUTF8: Bool
    /// Where the receiver should answer to.
    package var responseTopic: String?
    /// What the receiver should repeat in its answer.
    package var correlationData: [UInt8]?

    /// A message; not retained, with quality of service 1, and without properties by default.
    package init(
        topic: String, payload: [UInt8], qos: QualityOfService = .atLeastOnce, isRetained: Bool = false,
        expiry: Duration? = nil, contentType: String? = nil, isUTF8: Bool = false, responseTopic: String? = nil,
        correlationData: [UInt8]? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.expiry = expiry
        self.contentType = contentType
        self.isUTF8 = isUTF8
        self.responseTopic = responseTopic
        self.correlationData = correlationData
    }

    /// `expiry` as the wire has it: whole seconds in 32 bits.
    package var expirySeconds: UInt32? {
        guard let expiry else { return nil }
        let (seconds, attoseconds) = expiry.components
        let roundedUp = seconds.addingReportingOverflow(attoseconds > 0 ? 1 : 0)
        return UInt32(clamping: max(1, roundedUp.overflow ? seconds : roundedUp.partialValue))
    }
}
