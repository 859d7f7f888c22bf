import Contract
import JSON
import Vitals

extension Discovery {
    /// An event with all rules of the device, and the level of each.
    func alerts(of device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        let rules = AlertRule.all.filter { $0.isOffered(by: capabilities) }
        guard !rules.isEmpty else { return [] }
        let event = Component(
            .event, "alert", "Alert", availability: gatewayOnly,
            [
                ("state_topic", .string(topics.topic(.alertEvent(device)))),
                ("event_types", .array(rules.map { .string($0.name) } + [.string(ContractEncoder.alertCleared)])),
                ("icon", "mdi:alert-circle-outline"),
            ])
        return [event]
            + rules.map { rule in
                Component(
                    .binarySensor, "alert_\(rule.name)", rule.title, availability: gatewayOnly,
                    [
                        ("state_topic", .string(topics.topic(.level(device, rule)))),
                        ("value_template", "{{ value_json.state }}"), ("payload_on", "active"),
                        ("payload_off", "ok"), ("device_class", "problem"),
                    ])
            }
    }
}

extension AlertRule {
    /// The rule's name for a person.
    fileprivate var title: String {
        let what =
            switch subject {
            case .value: metric.phrase
            case .resting: "resting heart rate"
            case .exercise: "exercise heart rate"
            case .systolic: "systolic pressure"
            case .diastolic: "diastolic pressure"
            }
        return "\(side.rawValue.capitalizedFirst) \(what)"
    }
}
