package import Contract
package import HomeAssistant
package import Vitals

/// How devices are announced to Home Assistant, or that they are not.
package struct DiscoverySettings: Sendable {
    private let discovery: Discovery?

    /// Devices are announced by these rules. Where these say `off`, only what an earlier run announced is taken back.
    package init(_ discovery: Discovery) { self.discovery = discovery }

    private init() { discovery = nil }

    /// Nothing is announced, and nothing of an earlier run is looked for.
    package static let off = DiscoverySettings()

    /// The discovery prefix; `nil` where nothing is announced.
    package var prefix: String? { announces ? discovery?.options.prefix : nil }

    /// Whether anything is announced.
    var announces: Bool { discovery.map { $0.options.mode != .off } ?? false }

    /// Where Home Assistant says that it was started.
    package var birthTopic: String? { discovery?.birthTopic }

    /// What has to be listened to: Home Assistant's start, and what an earlier run may have left.
    package var filters: [String] {
        guard let discovery else { return [] }
        return (discovery.birthTopic.map { [$0] } ?? []) + discovery.sweepFilters
    }

    /// What announces the gateway itself.
    package var gatewayMessages: [OutgoingMessage] { discovery?.gatewayMessages ?? [] }

    /// What announces a device, and takes back what the device as it was had.
    package func messages(for device: DeviceInfo, replacing old: DeviceInfo?) -> [OutgoingMessage] {
        discovery?.messages(for: device, replacing: old) ?? []
    }

    /// Whether a topic is one under which a device was announced, in whatever way.
    func isTopic(_ topic: String, of device: String) -> Bool { discovery?.isTopic(topic, of: device) ?? false }

    /// What has to be said on a topic that an earlier run announced something under, before it is announced in another way.
    func migration(of topic: String) -> OutgoingMessage? { discovery?.migration(of: topic) }

    /// Whether a topic is one of the discovery's.
    func covers(_ topic: String) -> Bool {
        guard let discovery, topic != discovery.birthTopic else { return false }
        return topic.hasPrefix("\(discovery.options.prefix)/") && topic.hasSuffix("/config")
    }

    /// Whether what stands under a topic was announced by this gateway and is not true any more.
    func isStale(topic: String, payload: [UInt8], current: Set<String>) -> Bool {
        discovery?.isStale(topic: topic, payload: payload, current: current) ?? false
    }
}
