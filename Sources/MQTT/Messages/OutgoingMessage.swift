/// A message to publish, from the encoders of the contract and of Home Assistant to the MQTT client. All properties
/// other than topic, payload, retain flag and quality of service need MQTT 5 and are omitted with 3.1.1.
package struct OutgoingMessage: Sendable, Hashable {
    /// The topic: no wildcards, at most 65,535 bytes of UTF-8.
    package var topic: String
    /// The content. An empty retained message deletes the retained one.
    package var payload: [UInt8]
    /// The quality of service.
    package var qos: QualityOfService
    /// Whether the broker keeps it for later subscribers.
    package var isRetained: Bool
    /// Time after which the broker drops the message, rounded up to whole seconds, at least one; `nil` for never.
    package var expiry: Duration?
    /// The media type of the payload.
    package var contentType: String?
    /// Whether the payload is declared to be UTF-8 text (payload format indicator 1).
    package var isUTF8: Bool
    /// The topic for the receiver's answer.
    package var responseTopic: String?
    /// Data that the receiver should return with its answer.
    package var correlationData: [UInt8]?

    /// A message, by default not retained, with quality of service 1 and without properties.
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

    /// A JSON document, with its content type.
    package static func json(
        topic: String, payload: [UInt8], isRetained: Bool, expiry: Duration? = nil, correlationData: [UInt8]? = nil
    ) -> OutgoingMessage {
        OutgoingMessage(
            topic: topic, payload: payload, isRetained: isRetained, expiry: expiry, contentType: "application/json",
            isUTF8: true, correlationData: correlationData)
    }

    /// Deletes the retained message of a topic.
    package static func removal(of topic: String) -> OutgoingMessage {
        OutgoingMessage(topic: topic, payload: [], isRetained: true)
    }

    /// `expiry` on the wire: whole seconds in 32 bits.
    package var expirySeconds: UInt32? {
        guard let expiry else { return nil }
        let (seconds, attoseconds) = expiry.components
        let roundedUp = seconds.addingReportingOverflow(attoseconds > 0 ? 1 : 0)
        return UInt32(clamping: max(1, roundedUp.overflow ? seconds : roundedUp.partialValue))
    }
}

extension OutgoingMessage {
    /// The bytes of the PUBLISH packet with quality of service 1 (MQTT 5, section 3.3), which a broker compares with its
    /// Maximum Packet Size.
    package func packetSize(_ version: MQTTVersion) -> Int {
        let identifier = 2
        let properties = version == .v5 ? propertiesSize : 0
        let length = version == .v5 ? Self.variableLength(of: properties) : 0
        let remaining = 2 + topic.utf8.count + identifier + length + properties + payload.count
        return 1 + Self.variableLength(of: remaining) + remaining
    }

    /// The bytes of the properties that `MessageProperties` writes, each with its identifier.
    private var propertiesSize: Int {
        (isUTF8 ? 2 : 0) + (expirySeconds == nil ? 0 : 5) + (contentType.map { 3 + $0.utf8.count } ?? 0)
            + (responseTopic.map { 3 + $0.utf8.count } ?? 0) + (correlationData.map { 3 + $0.count } ?? 0)
    }

    /// The bytes of a Variable Byte Integer (section 1.5.5).
    private static func variableLength(of value: Int) -> Int {
        switch value {
        case ..<128: 1
        case ..<16_384: 2
        case ..<2_097_152: 3
        default: 4
        }
    }
}

/// The delivery guarantee of a message. Quality of service 2 is not offered: consumers recognise a repeated sample by
/// its id, which costs half the packets.
package enum QualityOfService: Int, Sendable, Hashable, CaseIterable {
    /// 0: sent at most once, never acknowledged.
    case atMostOnce = 0
    /// 1: acknowledged by the receiver, and possibly delivered twice.
    case atLeastOnce = 1
}
