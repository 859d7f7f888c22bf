import Contract
import JSON
import Vitals

extension Discovery {
    /// What waits for its person at a device for several, and the answers: a button for each person, and one for a guest. They answer for the
    /// sample that waits longest, which the attributes name, and are available while they may be right.
    func whose(of info: DeviceInfo) -> [Component] {
        guard info.asksWhose else { return [] }
        let topic = topics.topic(.whose(info.id))
        let first = "value_json.waiting[0]"
        func button(
            _ key: String, _ name: String, _ command: String, _ payload: JSONValue, if condition: String,
            icon: JSONValue
        ) -> Component {
            var button = Component(
                .button, "whose_\(key)", name, availability: gatewayOnly,
                [
                    ("command_topic", .string(topics.topic(.command(info.id, command)))),
                    ("payload_press", .string(payload.description)), ("icon", icon),
                ])
            let (online, offline) = (ContractEncoder.online, ContractEncoder.offline)
            button.presence = (topic, "{{ '\(online)' if value_json.waiting\(condition) else '\(offline)' }}")
            return button
        }
        let persons = info.people.sorted { $0.key < $1.key }.map { user, name in
            // A text of JSON is one of Jinja.
            button(
                "\(user)", "It was \(name)", "assign", ["person": .string(name)],
                if: " and \(JSONValue.string(name)) in \(first).candidates", icon: "mdi:account-check")
        }
        return [
            Component(
                .sensor, "whose", "Whose?", availability: gatewayOnly,
                [
                    ("state_topic", .string(topic)), ("value_template", "{{ value_json.waiting | count }}"),
                    ("json_attributes_topic", .string(topic)),
                    (
                        "json_attributes_template",
                        .string("{{ (\(first) if value_json.waiting else {}) | tojson }}")
                    ), ("icon", "mdi:account-question"),
                ])
        ] + persons + [
            button("guest", "It was a guest", "withdraw", [:], if: "", icon: "mdi:account-off-outline")
        ]
    }
}
