package import Contract
import JSON
package import Vitals

/// Describes the gateway and its devices as Home Assistant wants it: retained messages, from which it makes devices and
/// entities by itself. Pure: the same devices always give the same messages.
package struct Discovery: Sendable {
    /// How to announce.
    package let options: DiscoveryOptions
    let topics: ContractTopics
    let origin: DiscoveryOrigin

    /// A description of a gateway's devices.
    package init(options: DiscoveryOptions, topics: ContractTopics, origin: DiscoveryOrigin) {
        self.options = options
        self.topics = topics
        self.origin = origin
    }

    /// Where Home Assistant says `online` when it has started; `nil` where discovery is off.
    package var birthTopic: String? { options.mode == .off ? nil : "\(options.prefix)/status" }

    /// Everything: the gateway first, since the devices refer to it. A device that never connected has no message.
    package func messages(devices: [DeviceInfo]) -> [OutgoingMessage] {
        gatewayMessages + devices.flatMap { messages(for: $0) }
    }

    /// The gateway's own device.
    package var gatewayMessages: [OutgoingMessage] { messages(gatewayDevice, components: gatewayComponents) }

    /// A wearable; nothing where it never connected, as nobody knows what it can do.
    /// - Parameter old: what was announced before, where that is known: entities that it had and that are gone are taken
    ///   away.
    package func messages(for device: DeviceInfo, replacing old: DeviceInfo? = nil) -> [OutgoingMessage] {
        guard device.capabilities != nil else { return [] }
        let new = components(of: device)
        let keys = Set(new.map(\.key))
        let gone = old.map { components(of: $0).filter { !keys.contains($0.key) } } ?? []
        return messages(block(of: device), components: new, gone: gone)
    }

    /// Takes a wearable and all its entities away.
    package func removal(of device: DeviceInfo) -> [OutgoingMessage] {
        let node = node(device.id.text)
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
            // An entity that is gone is named with its platform alone. So are the texts in whose place there are times now.
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
        OutgoingMessage(topic: topic, payload: JSONValue.object(members).bytes, isRetained: true)
    }

    private var originJSON: JSONValue {
        [
            "name": .string(DiscoveryOrigin.name), "sw_version": .string(origin.version),
            "support_url": .string(origin.supportURL),
        ]
    }

    /// What a device's discovery topics, its identifier and the `unique_id`s of its entities begin with.
    func node(_ device: String) -> String { "vitals2mqtt_\(topics.gateway.text)_\(device)" }

    func deviceTopic(_ node: String) -> String { "\(options.prefix)/device/\(node)/config" }

    func componentTopic(_ component: Component, _ node: String) -> String {
        "\(options.prefix)/\(component.platform.rawValue)/\(node)/\(component.key)/config"
    }
}
