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
            + buttons(of: id, capabilities) + whose(of: device.info) + diagnostics(of: device, capabilities)
            + settings(of: id, capabilities)
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

    /// An event entity with all rules of the device, another with what it warns of, and an entity for the level of each rule whose
    /// limit can be passed.
    ///
    /// Levels are announced only once the limits are known, since Home Assistant reads just once whether an entity is
    /// enabled by default.
    func alerts(of device: DiscoveredDevice, _ capabilities: Capabilities) -> [Component] {
        let rules = AlertRule.all.filter { $0.isOffered(by: capabilities) }
        let warnings = AlertRule.warnings.filter { $0.isOffered(by: capabilities) }.map(\.name)
        guard !rules.isEmpty || !warnings.isEmpty else { return [] }
        let id = device.info.id
        let topic = JSONValue.string(topics.topic(.alertEvent(id)))
        let types = rules.map(\.name) + warnings + [ContractEncoder.alertCleared]
        var events = [
            Component(
                .event, "alert", "Alert", availability: gatewayOnly,
                [
                    ("state_topic", topic), ("event_types", .array(types.map { .string($0) })),
                    ("icon", "mdi:alert-circle-outline"),
                ])
        ]
        if !warnings.isEmpty {
            let names = warnings.map { "'\($0)'" }.joined(separator: ", ")
            events.append(
                Component(
                    .event, "warning", "Warning", availability: gatewayOnly,
                    [
                        ("state_topic", topic),
                        // Home Assistant ignores an empty payload, and logs it at debug.
                        ("value_template", .string("{{ value if value_json.event_type in [\(names)] else '' }}")),
                        ("event_types", .array(warnings.map { .string($0) })), ("icon", "mdi:heart-flash"),
                    ]))
        }
        guard let limits = device.limits else { return events }
        return events
            + rules.filter { limits[$0] != .unreachable }.map { level(of: $0, id, isWatched: limits[$0] == .watched) }
    }

    /// The level of an alert, with what an automation needs to tell of it and to acknowledge it.
    private func level(of rule: AlertRule, _ device: DeviceID, isWatched: Bool) -> Component {
        let names = [
            "person", "metric", "value", "limit", "unit", "since", "last_id", "acknowledged_by", "acknowledged_at",
        ]
        let command = topics.topic(.command(device, "acknowledge"))
        return Component(
            .binarySensor, "alert_\(rule.name)", rule.title, isEnabledByDefault: isWatched, availability: gatewayOnly,
            [
                ("state_topic", .string(topics.topic(.level(device, rule)))),
                ("value_template", "{{ value_json.state }}"), ("payload_on", "active"), ("payload_off", "ok"),
                ("device_class", "problem"),
            ] + attributes(.level(device, rule), names, constants: [("acknowledge_topic", command)]))
    }

    /// The field for the passkey that a device shows, available while the device asks, and the state of its pairing. A device that was never
    /// connected has them, too: it has to be paired first.
    func pairing(of device: DeviceID) -> [Component] {
        let topic = topics.topic(.pairing(device))
        var passkey = Component(
            .text, "passkey", "Passkey", category: .config, availability: gatewayOnly,
            [
                ("command_topic", .string(topics.topic(.command(device, "passkey")))),
                ("command_template", "{\"passkey\": \"{{ value }}\"}"), ("pattern", "^[0-9]{6}$"), ("min", 6),
                ("max", 6), ("mode", "password"), ("icon", "mdi:form-textbox-password"),
            ])
        let isAsked = "value_json.state == '\(PairingState.Phase.passkey.rawValue)'"
        passkey.presence = (
            topic, "{{ '\(ContractEncoder.online)' if \(isAsked) else '\(ContractEncoder.offline)' }}"
        )
        let phases = PairingState.Phase.allCases.map { JSONValue.string($0.rawValue) }
        return [
            passkey,
            diagnostic(
                .sensor, "pairing", "Pairing", .pairing(device), "{{ value_json.state }}",
                [
                    ("device_class", "enum"), ("options", .array(phases)), ("icon", "mdi:bluetooth-connect"),
                ] + attributes(.pairing(device), ["until", "message"])),
        ]
    }
}
