import Contract
import JSON
import Vitals

extension Discovery {
    /// The diagnostic entities of a device.
    func diagnostics(of device: DiscoveredDevice, _ capabilities: Capabilities) -> [Component] {
        let info = device.info
        var result = own(device)
        if !capabilities.metrics(with: .measure).isEmpty {
            let phases = MeasureState.Phase.allCases.map { JSONValue.string($0.rawValue) }
            result.append(
                diagnostic(
                    .sensor, "measurement", "Measurement", .measure(info.id), "{{ value_json.state }}",
                    [
                        ("device_class", "enum"), ("options", .array(phases)), ("icon", "mdi:timer-outline"),
                    ] + attributes(.measure(info.id), ["metric", "started_at", "value", "error"])))
        }
        if capabilities.canSynchronise {
            let progress =
                "100 * value_json.metrics_done / value_json.metrics_total if value_json.metrics_total else none"
            var bar = diagnostic(
                .sensor, "sync_progress", "Sync progress", .sync(info.id), "{{ \(progress) }}",
                [
                    ("unit_of_measurement", "%"), ("suggested_display_precision", 0), ("state_class", "measurement"),
                    ("icon", "mdi:progress-download"),
                ])
            bar.isEnabledByDefault = false
            result += [
                diagnostic(
                    .sensor, "last_sync", "Last sync", .sync(info.id), "{{ value_json.last_success_at }}",
                    [("device_class", "timestamp")]), bar,
            ]
        }
        if MonitorSetting.all.contains(where: { $0.isOffered(by: capabilities) }) {
            result.append(
                diagnostic(
                    .binarySensor, "settings_pending", "Settings pending", .config(info.id),
                    "{{ 'on' if value_json.pending or value_json.drift else 'off' }}",
                    [
                        ("payload_on", "on"), ("payload_off", "off"), ("device_class", "problem"),
                        ("icon", "mdi:cog-sync-outline"),
                    ] + attributes(.config(info.id), ["pending", "drift", "reported", "error"])))
        }
        result.append(
            diagnostic(
                .sensor, "firmware", "Firmware", .info(info.id),
                // Without a unit or class, a sensor would show None as text.
                "{{ value_json.firmware or 'unknown' }}", [("icon", "mdi:chip")]))
        return result
    }

    /// Entities for the properties that the device has ever reported.
    private func own(_ device: DiscoveredDevice) -> [Component] {
        let id = device.info.id
        func flag(_ key: String, _ name: String, _ members: [(String, JSONValue?)]) -> Component {
            // Jinja writes Booleans as Python does, and None as unknown.
            diagnostic(
                .binarySensor, key, name, .wear(id), "{{ value_json.\(key) }}", availability: gatewayAndDevice(id),
                [("payload_on", "True"), ("payload_off", "False")] + members)
        }
        var result: [Component] = []
        if device.info.features.contains(.battery) {
            result.append(latest(device.info, .battery, "battery", "Battery", category: .diagnostic))
        }
        if device.info.features.contains(.charging) {
            result.append(flag("charging", "Charging", [("device_class", "battery_charging")]))
        }
        if device.info.features.contains(.worn) { result.append(flag("worn", "Worn", [("icon", "mdi:watch")])) }
        if device.info.features.contains(.signal) {
            result.append(
                diagnostic(
                    .sensor, "rssi", "Signal strength", .link(id), "{{ value_json.rssi }}",
                    availability: gatewayAndDevice(id),
                    [
                        ("unit_of_measurement", "dBm"), ("suggested_display_precision", 0),
                        ("device_class", "signal_strength"), ("state_class", "measurement"),
                    ]))
        }
        return result
    }

    func diagnostic(
        _ platform: Platform, _ key: String, _ name: String, _ topic: Topic, _ template: String,
        availability: [String]? = nil, _ members: [(String, JSONValue?)]
    ) -> Component {
        Component(
            platform, key, name, category: .diagnostic, availability: availability ?? gatewayOnly,
            [("state_topic", .string(topics.topic(topic))), ("value_template", .string(template))] + members)
    }

    /// Members of a topic's payload as attributes of an entity, and others that never change.
    func attributes(
        _ topic: Topic, _ names: [String], constants: [(name: String, text: String)] = []
    ) -> [(String, JSONValue?)] {
        // A text of JSON is one of Jinja.
        let texts = constants.map { "'\($0.name)': \(JSONValue.string($0.text))" }
        let members = (names.map { "'\($0)': value_json.\($0)" } + texts).joined(separator: ", ")
        return [
            ("json_attributes_topic", .string(topics.topic(topic))),
            ("json_attributes_template", .string("{{ {\(members)} | tojson }}")),
        ]
    }
}
