package import MQTT

extension OutgoingMessage {
    /// The final answer of a command from the store: each repetition has the same bytes.
    package static func answer(topic: String, payload: [UInt8], correlation: [UInt8]?) -> OutgoingMessage {
        .json(
            topic: topic, payload: payload, isRetained: false, expiry: Topic.gatewayResponse.expiry,
            correlationData: correlation)
    }
}
