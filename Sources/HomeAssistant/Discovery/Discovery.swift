package import Contract
import JSON
package import MQTT
import Vitals

/// Describes the gateway and its devices for Home Assistant: retained messages from which it creates devices and
/// entities. It is pure: the same devices always give the same messages.
package struct Discovery: Sendable {
    /// The options.
    package let options: DiscoveryOptions
    let topics: ContractTopics
    let origin: DiscoveryOrigin

    /// A description of a gateway's devices.
    package init(options: DiscoveryOptions, topics: ContractTopics, origin: DiscoveryOrigin) {
        self.options = options
        self.topics = topics
        self.origin = origin
    }

    /// The topic on which Home Assistant announces its start with `online`; `nil` if discovery is off.
    package var birthTopic: String? { options.mode == .off ? nil : "\(options.prefix)/status" }

    /// All messages; the gateway's come first, since the devices refer to it. A device that never connected has no
    /// message.
    package func messages(devices: [DiscoveredDevice]) -> [OutgoingMessage] {
        gatewayMessages + devices.flatMap { messages(for: $0) }
    }

    /// The messages of the gateway's own device.
    package var gatewayMessages: [OutgoingMessage] { messages(gatewayDevice, components: gatewayComponents) }

    /// The messages of a wearable; none if it never connected, since its capabilities are unknown, unless
    /// it has to be paired with a passkey for that.
    /// - Parameter old: the device as last announced, if known. Entities that no longer exist are removed.
    package func messages(for device: DiscoveredDevice, replacing old: DiscoveredDevice? = nil) -> [OutgoingMessage] {
        guard device.isAnnounced else { return [] }
        let new = components(of: device)
        let keys = Set(new.map(\.key))
        let gone = old.map { components(of: $0).filter { !keys.contains($0.key) } } ?? []
        return messages(block(of: device.info), components: new, gone: gone)
    }

    /// Removes a wearable and all its entities.
    package func removal(of device: DiscoveredDevice) -> [OutgoingMessage] {
        let node = node(device.info.id.text)
        switch options.mode {
        case .off: return []
        case .device: return [.removal(of: deviceTopic(node))]
        case .component: return components(of: device).map { .removal(of: componentTopic($0, node)) }
        }
    }

    private func messages(
        _ device: DeviceBlock, components: [Component], gone: [Component] = []
    ) -> [OutgoingMessage] {
        let shared: [JSONValue.Member] = [
            JSONValue.Member("device", device.json), JSONValue.Member("origin", originJSON),
        ]
        switch options.mode {
        case .off: return []
        case .device:
            // A removed entity is listed with its platform alone. The same removes text entities that are now time
            // entities.
            let texts = components.filter { $0.platform == .time }
            let members =
                components.map { JSONValue.Member($0.name(in: .device), $0.json(of: device.node, withPlatform: true)) }
                + gone.map { JSONValue.Member($0.name(in: .device), ["platform": .string($0.platform.rawValue)]) }
                + texts.map { JSONValue.Member($0.key, ["platform": .string(Platform.text.rawValue)]) }
            return [message(deviceTopic(device.node), shared + [JSONValue.Member("components", .object(members))])]
        case .component:
            return components.map { component in
                let own = component.json(of: device.node, withPlatform: false).asObject ?? []
                return message(componentTopic(component, device.node), own + shared)
            } + gone.map { .removal(of: componentTopic($0, device.node)) }
        }
    }

    private func message(_ topic: String, _ members: [JSONValue.Member]) -> OutgoingMessage {
        .json(topic: topic, payload: JSONValue.object(members).bytes, isRetained: true)
    }

    private var originJSON: JSONValue {
        [
            "name": .string(DiscoveryOrigin.name), "sw_version": .string(origin.version),
            "support_url": .string(origin.supportURL),
        ]
    }

    /// The prefix of a device's discovery topics, of its identifier and of its entities' `unique_id`s.
    func node(_ device: String) -> String { "vitals2mqtt_\(topics.gateway.text)_\(device)" }

    func deviceTopic(_ node: String) -> String { "\(options.prefix)/device/\(node)/config" }

    func componentTopic(_ component: Component, _ node: String) -> String {
        "\(options.prefix)/\(component.platform.rawValue)/\(node)/\(component.key)/config"
    }
}
