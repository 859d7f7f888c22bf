package import Contract
package import Vitals

/// How devices are announced to Home Assistant: the topics, and the messages as pure functions.
package struct DiscoverySettings: Sendable {
    /// The discovery prefix; `nil` where nothing is announced.
    package var prefix: String?
    /// What is announced of the gateway itself.
    package var gateway: @Sendable () -> [OutgoingMessage]
    /// What is announced of a device.
    package var device: @Sendable (DeviceInfo) -> [OutgoingMessage]
    /// Whether a topic of the discovery is one of this gateway's.
    package var isOurs: @Sendable (String) -> Bool
    /// The topics under which discovery of ours may stand, to find what an earlier run left.
    package var sweepFilters: [String]

    package init(
        prefix: String?, gateway: @escaping @Sendable () -> [OutgoingMessage],
        device: @escaping @Sendable (DeviceInfo) -> [OutgoingMessage], isOurs: @escaping @Sendable (String) -> Bool,
        sweepFilters: [String]
    ) {
        self.prefix = prefix
        self.gateway = gateway
        self.device = device
        self.isOurs = isOurs
        self.sweepFilters = sweepFilters
    }

    /// Nothing is announced.
    package static let off = DiscoverySettings(
        prefix: nil, gateway: { [] }, device: { _ in [] }, isOurs: { _ in false }, sweepFilters: [])

    /// Where Home Assistant says that it was started.
    package var birthTopic: String? { prefix.map { "\($0)/status" } }

    /// What has to be listened to for all of this.
    package var filters: [String] { (birthTopic.map { [$0] } ?? []) + sweepFilters }
}
