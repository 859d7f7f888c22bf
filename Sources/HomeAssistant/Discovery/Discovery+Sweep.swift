import Contract
import JSON
package import MQTT
import Vitals

extension Discovery {
    /// The topics to subscribe to at start, to find retained discovery messages that this gateway would no longer
    /// publish: of removed devices, and of another mode. They also apply if discovery is off.
    package var sweepFilters: [String] { ["\(options.prefix)/device/+/config", "\(options.prefix)/+/+/+/config"] }

    /// Whether a retained message is from this gateway but not on one of the `current` topics, so that it should be
    /// cleared.
    ///
    /// The topic alone is not enough: the gateway `home` must not clear the messages of the gateway `home_2`. So the
    /// payload has to name this gateway's status topic, which every message of this gateway does.
    package func isStale(topic: String, payload: [UInt8], current: Set<String>) -> Bool {
        guard !payload.isEmpty, !current.contains(topic), topic.hasSuffix("/config"),
            topic.hasPrefix("\(options.prefix)/"), topic.contains("/\(node(""))"),
            let document = try? JSONValue(parsing: payload)
        else { return false }
        return document.mentions(topics.topic(.gatewayStatus))
    }
}

extension Discovery {
    /// Whether a topic announces a device of this gateway, in any discovery mode.
    package func isTopic(_ topic: String, of device: String) -> Bool { topic.contains("/\(node(device))/") }

    /// A topic of announcements that no device has, since its name has a capital letter: an empty message there, which is not retained,
    /// tells Home Assistant nothing.
    package var trialTopic: String { deviceTopic(node("Doctor")) }

    /// The message that migrates a topic of the other discovery mode, before its entities are announced in this mode:
    /// Home Assistant then releases the entities but keeps their users' customisations. `nil` for a topic of this mode.
    ///
    /// It is not retained. Until the topic is cleared, a restarted gateway finds the same message there again.
    package func migration(of topic: String) -> OutgoingMessage? {
        let isOfDevice = topic.hasPrefix("\(options.prefix)/device/")
        guard options.mode != .off, isOfDevice != (options.mode == .device) else { return nil }
        return .json(topic: topic, payload: Array(#"{"migrate_discovery":true}"#.utf8), isRetained: false)
    }
}

extension JSONValue {
    /// Whether a text occurs anywhere in this value. The reader's limit of nesting bounds the recursion.
    fileprivate func mentions(_ text: String) -> Bool {
        switch self {
        case .string(let value): value == text
        case .array(let elements): elements.contains { $0.mentions(text) }
        case .object(let members): members.contains { $0.value.mentions(text) }
        case .null, .bool, .number: false
        }
    }
}
