import Contract
import JSON
import Vitals

extension Discovery {
    /// An event entity with all rules of the device, and an entity for the level of each rule whose limit can be passed.
    ///
    /// Levels are announced only once the limits are known, since Home Assistant reads just once whether an entity is
    /// enabled by default.
    func alerts(of device: DiscoveredDevice, _ capabilities: Capabilities) -> [Component] {
        let rules = AlertRule.all.filter { $0.isOffered(by: capabilities) }
        guard !rules.isEmpty else { return [] }
        let id = device.info.id
        let event = Component(
            .event, "alert", "Alert", availability: gatewayOnly,
            [
                ("state_topic", .string(topics.topic(.alertEvent(id)))),
                ("event_types", .array(rules.map { .string($0.name) } + [.string(ContractEncoder.alertCleared)])),
                ("icon", "mdi:alert-circle-outline"),
            ])
        guard let limits = device.limits else { return [event] }
        return [event]
            + rules.filter { limits[$0] != .unreachable }.map { rule in
                Component(
                    .binarySensor, "alert_\(rule.name)", rule.title, isEnabledByDefault: limits[rule] == .watched,
                    availability: gatewayOnly,
                    [
                        ("state_topic", .string(topics.topic(.level(id, rule)))),
                        ("value_template", "{{ value_json.state }}"), ("payload_on", "active"),
                        ("payload_off", "ok"), ("device_class", "problem"),
                    ])
            }
    }
}
