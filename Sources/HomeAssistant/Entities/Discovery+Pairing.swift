import Contract
import JSON
import Vitals

extension Discovery {
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
