package import Contract
import JSON
import Vitals

extension Discovery {
    /// What to subscribe to at the start to find discovery messages that this gateway retained earlier and would not
    /// publish any more: of removed devices, and of another mode. Also where discovery is off now.
    package var sweepFilters: [String] { ["\(options.prefix)/device/+/config", "\(options.prefix)/+/+/+/config"] }

    /// Whether a retained message is one of this gateway that is not among `current` topics, and should be emptied.
    ///
    /// The topic alone does not tell: the gateway `home` must not sweep what the gateway `home_2` announced. So the
    /// payload has to name this gateway's status topic, as each of ours does.
    package func isStale(topic: String, payload: [UInt8], current: Set<String>) -> Bool {
        guard !payload.isEmpty, !current.contains(topic), topic.hasSuffix("/config"),
            topic.hasPrefix("\(options.prefix)/"), topic.contains("/\(node(""))"),
            let document = try? JSONValue(parsing: payload)
        else { return false }
        return document.mentions(topics.topic(.gatewayStatus))
    }
}

extension Discovery {
    /// Whether a topic is one under which a device of this gateway was announced, in whatever way.
    package func isTopic(_ topic: String, of device: String) -> Bool { topic.contains("/\(node(device))/") }

    /// What has to be said on a topic of the other way of discovery before its entities are announced this way: Home Assistant lets
    /// go of them, and keeps what people made of them. `nil` for a topic of this way.
    ///
    /// It is not retained. Until the topic is emptied, a new start finds there what it found before.
    package func migration(of topic: String) -> OutgoingMessage? {
        let isOfDevice = topic.hasPrefix("\(options.prefix)/device/")
        guard options.mode != .off, isOfDevice != (options.mode == .device) else { return nil }
        return OutgoingMessage(topic: topic, payload: Array(#"{"migrate_discovery":true}"#.utf8), isRetained: false)
    }
}

extension JSONValue {
    /// Whether a text stands anywhere in this value. The reader's limit of nesting bounds the recursion.
    fileprivate func mentions(_ text: String) -> Bool {
        switch self {
        case .string(let value): value == text
        case .array(let elements): elements.contains { $0.mentions(text) }
        case .object(let members): members.contains { $0.value.mentions(text) }
        case .null, .bool, .number: false
        }
    }
}
