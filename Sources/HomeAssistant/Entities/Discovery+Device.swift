import Contract
import JSON
import Vitals

extension Discovery {
    /// The entities of a wearable, as its capabilities allow. The order is: values, actions, diagnostics, settings.
    func components(of device: DiscoveredDevice) -> [Component] {
        let pairing = device.info.asksForPasskey ? pairing(of: device.info.id) : []
        guard let capabilities = device.info.capabilities else { return pairing }
        let id = device.info.id
        return values(of: device.info, capabilities) + days(of: id, capabilities) + alerts(of: device, capabilities)
            + buttons(of: id, capabilities) + diagnostics(of: device, capabilities) + settings(of: id, capabilities)
            + pairing
    }

    /// The actions that a press triggers.
    func buttons(of device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        func button(
            _ key: String, _ name: String, _ command: String, category: Component.Category? = nil,
            payload: JSONValue? = nil, icon: JSONValue
        ) -> Component {
            Component(
                .button, key, name, category: category, availability: gatewayOnly,
                [
                    ("command_topic", .string(topics.topic(.command(device, command)))),
                    ("payload_press", payload.map { .string($0.description) }), ("icon", icon),
                ])
        }
        let measured = capabilities.metrics(with: .measure)
        var result = measured.map { metric in
            button(
                "measure_\(metric.rawValue)", "Measure \(metric.phrase) now", "measure",
                payload: ["metric": .string(metric.rawValue)], icon: "mdi:play-circle-outline")
        }
        if !measured.isEmpty {
            result.append(
                button(
                    "stop_measuring", "Stop measuring", "measure", payload: ["action": "stop"],
                    icon: "mdi:stop-circle-outline"))
        }
        if capabilities.canSynchronise { result.append(button("sync_now", "Sync now", "sync", icon: "mdi:sync")) }
        result.append(button("reconnect", "Reconnect", "reconnect", category: .config, icon: "mdi:connection"))
        return result
    }
}
