import Contract
import JSON
import Vitals

extension Discovery {
    /// The entities of a wearable: only what its capabilities allow.
    func components(of device: DeviceInfo) -> [Component] {
        guard let capabilities = device.capabilities else { return [] }
        return values(of: device, capabilities) + totals(of: device.id, capabilities)
            + diagnostics(of: device, capabilities) + alerts(of: device.id, capabilities)
            + settings(of: device.id, capabilities) + buttons(of: device.id, capabilities)
    }

    private func diagnostics(of device: DeviceInfo, _ capabilities: Capabilities) -> [Component] {
        var result: [Component] = []
        if device.hasBattery {
            result.append(
                latest(
                    device, .battery, "battery", "Battery", category: .diagnostic,
                    template: "{{ value_json.value }}", [("device_class", "battery")]))
        }
        if capabilities.canSynchronise {
            result.append(
                Component(
                    .sensor, "last_sync", "Last sync", category: .diagnostic, availability: gatewayOnly,
                    [
                        ("state_topic", .string(topics.topic(.sync(device.id)))),
                        ("value_template", "{{ value_json.last_success_at }}"), ("device_class", "timestamp"),
                    ]))
        }
        result.append(
            Component(
                .sensor, "firmware", "Firmware", category: .diagnostic, availability: gatewayOnly,
                [
                    ("state_topic", .string(topics.topic(.info(device.id)))),
                    // A sensor without unit or class would show None as a text.
                    ("value_template", "{{ value_json.firmware or 'unknown' }}"), ("icon", "mdi:chip"),
                ]))
        return result
    }

    private func buttons(of device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        func button(_ key: String, _ name: String, _ command: String, _ members: [(String, JSONValue?)]) -> Component {
            Component(
                .button, key, name, availability: gatewayOnly,
                [("command_topic", .string(topics.topic(.command(device, command))))] + members)
        }
        var result: [Component] = []
        if capabilities.canSynchronise {
            result.append(button("sync_now", "Sync now", "sync", [("icon", "mdi:sync")]))
        }
        for metric in capabilities.metrics(with: .measure) {
            let payload: JSONValue = ["metric": .string(metric.rawValue)]
            result.append(
                button(
                    "measure_\(metric.rawValue)", "Measure \(metric.phrase) now", "measure",
                    [("payload_press", .string(payload.description)), ("icon", "mdi:play-circle-outline")]))
        }
        var reconnect = button("reconnect", "Reconnect", "reconnect", [("icon", "mdi:connection")])
        reconnect.category = .config
        result.append(reconnect)
        return result
    }
}
