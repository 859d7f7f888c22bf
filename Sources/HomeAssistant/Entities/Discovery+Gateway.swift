import Contract
import JSON
import Vitals

extension Discovery {
    /// The gateway's own entities.
    var gatewayComponents: [Component] {
        let state = JSONValue.string(topics.topic(.gatewayState))
        let lanes = Lane.allCases.map { "value_json.outbox.\($0.name)" }.joined(separator: " + ")
        return [
            Component(
                .binarySensor, "status", "Connection", category: .diagnostic, availability: [],
                [
                    ("state_topic", .string(topics.topic(.gatewayStatus))), ("device_class", "connectivity"),
                    ("payload_on", .string(ContractEncoder.online)),
                    ("payload_off", .string(ContractEncoder.offline)),
                ]),
            Component(
                .sensor, "outbox", "Waiting messages", category: .diagnostic, availability: gatewayOnly,
                [
                    ("state_topic", state), ("value_template", .string("{{ \(lanes) }}")),
                    ("unit_of_measurement", "messages"), ("state_class", "measurement"),
                    ("suggested_display_precision", 0), ("icon", "mdi:tray-full"),
                ]),
            Component(
                .sensor, "store_size", "Store size", category: .diagnostic, availability: gatewayOnly,
                [
                    ("state_topic", state), ("value_template", "{{ value_json.store_bytes }}"),
                    ("device_class", "data_size"), ("unit_of_measurement", "B"), ("state_class", "measurement"),
                    ("suggested_display_precision", 0),
                ]),
            Component(
                .button, "sync_all", "Sync all now", availability: gatewayOnly,
                [("command_topic", .string(topics.topic(.gatewayCommand("sync")))), ("icon", "mdi:sync")]),
        ]
    }

    /// Availability of entities that also work while the device is offline.
    var gatewayOnly: [String] { [topics.topic(.gatewayStatus)] }

    /// Availability of entities with a value.
    func gatewayAndDevice(_ device: DeviceID) -> [String] { gatewayOnly + [topics.topic(.availability(device))] }
}
