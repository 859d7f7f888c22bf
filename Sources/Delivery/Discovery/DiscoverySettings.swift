import Contract
package import HomeAssistant
package import MQTT
import Vitals

/// Whether and how devices are announced to Home Assistant.
package struct DiscoverySettings: Sendable {
    private let discovery: Discovery?

    /// Announces devices by these rules. With `off`, only withdraws announcements of an earlier run.
    package init(_ discovery: Discovery) { self.discovery = discovery }

    private init() { discovery = nil }

    /// Announces nothing, and does not look for announcements of an earlier run.
    package static let off = DiscoverySettings()

    /// The discovery prefix; `nil` without announcements.
    package var prefix: String? { announces ? discovery?.options.prefix : nil }

    /// Whether anything is announced.
    var announces: Bool { discovery.map { $0.options.mode != .off } ?? false }

    /// The topic on which Home Assistant reports its start.
    package var birthTopic: String? { discovery?.birthTopic }

    /// The topic filters for Home Assistant's start, and for announcements of an earlier run.
    package var filters: [String] {
        guard let discovery else { return [] }
        return (discovery.birthTopic.map { [$0] } ?? []) + discovery.sweepFilters
    }

    /// The announcements of the gateway itself.
    package var gatewayMessages: [OutgoingMessage] { discovery?.gatewayMessages ?? [] }

    /// The messages that announce a device and withdraw outdated announcements of its `old` form.
    package func messages(for device: DiscoveredDevice, replacing old: DiscoveredDevice?) -> [OutgoingMessage] {
        discovery?.messages(for: device, replacing: old) ?? []
    }

    /// Whether a topic announces a device, in any discovery mode.
    func isTopic(_ topic: String, of device: String) -> Bool { discovery?.isTopic(topic, of: device) ?? false }

    /// The message for a topic of an earlier run, before its entities are announced in another way.
    func migration(of topic: String) -> OutgoingMessage? { discovery?.migration(of: topic) }

    /// Whether a topic is a discovery topic.
    func covers(_ topic: String) -> Bool {
        guard let discovery, topic != discovery.birthTopic else { return false }
        return topic.hasPrefix("\(discovery.options.prefix)/") && topic.hasSuffix("/config")
    }

    /// Whether a retained message is an outdated announcement by this gateway.
    func isStale(topic: String, payload: [UInt8], current: Set<String>) -> Bool {
        discovery?.isStale(topic: topic, payload: payload, current: current) ?? false
    }
}
