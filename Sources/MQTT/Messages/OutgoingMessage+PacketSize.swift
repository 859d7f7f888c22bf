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
