internal import CMosquitto
internal import Glibc
import MQTT

/// The MQTT 5 properties of a message as a libmosquitto list; freed on deinitialisation.
struct MessageProperties: ~Copyable {
    private(set) var list: OpaquePointer?

    /// The properties of `message`; none in MQTT 3.1.1.
    /// - Throws: `.invalidMessage` for an invalid property.
    init(_ message: OutgoingMessage, version: MQTTVersion) throws(BrokerError) {
        guard version == .v5 else { return }
        var code = MOSQ_ERR_SUCCESS.rawValue
        func add(_ result: Int32) { if result != MOSQ_ERR_SUCCESS.rawValue { code = result } }
        if message.isUTF8 { add(mosquitto_property_add_byte(&list, Self.payloadFormat, 1)) }
        if let seconds = message.expirySeconds { add(mosquitto_property_add_int32(&list, Self.expiry, seconds)) }
        if let type = message.contentType { add(mosquitto_property_add_string(&list, Self.contentType, type)) }
        if let topic = message.responseTopic { add(mosquitto_property_add_string(&list, Self.responseTopic, topic)) }
        if let data = message.correlationData {
            if let count = UInt16(exactly: data.count) {
                add(mosquitto_property_add_binary(&list, Self.correlationData, data, count))
            } else {
                add(MOSQ_ERR_PAYLOAD_SIZE.rawValue)
            }
        }
        guard code != MOSQ_ERR_SUCCESS.rawValue else { return }
        let reason = String(cString: mosquitto_strerror(code))
        throw BrokerError(.invalidMessage, "A property of the message on \"\(message.topic)\" is not valid: \(reason)")
    }

    deinit {
        var list = list
        mosquitto_property_free_all(&list)
    }

    /// Gives up ownership of the list.
    mutating func disown() { list = nil }

    static let payloadFormat = Int32(MQTT_PROP_PAYLOAD_FORMAT_INDICATOR.rawValue)
    static let expiry = Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue)
    static let contentType = Int32(MQTT_PROP_CONTENT_TYPE.rawValue)
    static let responseTopic = Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue)
    static let correlationData = Int32(MQTT_PROP_CORRELATION_DATA.rawValue)
}

extension InboundMessage {
    /// Copies a message from libmosquitto, which is valid only during its callback.
    init(_ message: mosquitto_message, properties: OpaquePointer?, maximumPayload: Int) {
        let size = Int(message.payloadlen)
        let bytes = UnsafeRawBufferPointer(start: message.payload, count: message.payload == nil ? 0 : size)
        self.init(
            topic: message.topic.map { String(cString: $0) } ?? "", payload: Array(bytes.prefix(maximumPayload)),
            payloadSize: size, qos: message.qos == 0 ? .atMostOnce : .atLeastOnce, isRetained: message.retain)
        guard let properties else { return }
        var text: UnsafeMutablePointer<CChar>?
        if mosquitto_property_read_string(properties, MessageProperties.responseTopic, &text, false) != nil {
            responseTopic = text.map { String(cString: $0) }
        }
        free(text)
        var data: UnsafeMutableRawPointer?
        var count: UInt16 = 0
        if mosquitto_property_read_binary(properties, MessageProperties.correlationData, &data, &count, false) != nil {
            correlationData = Array(UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : Int(count)))
        }
        free(data)
        var seconds: UInt32 = 0
        if mosquitto_property_read_int32(properties, MessageProperties.expiry, &seconds, false) != nil {
            expiry = .seconds(Int64(seconds))
        }
    }
}
