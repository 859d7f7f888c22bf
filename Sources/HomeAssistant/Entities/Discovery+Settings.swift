import Contract
import JSON
import Vitals

extension Discovery {
    /// A control for each setting that the device offers.
    func settings(of device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        MonitorSetting.all.filter { $0.isOffered(by: capabilities) }.map { control($0, of: device) }
    }

    /// The control of one setting.
    func control(_ setting: MonitorSetting, of device: DeviceID) -> Component {
        let key = setting.path.replacing(".", with: "_")
        let (platform, members) = parts(of: setting)
        let topic = topics.topic(.config(device))
        var result = Component(
            platform, key, setting.title, category: .config, availability: gatewayOnly,
            [
                ("state_topic", .string(topic)),
                ("command_topic", .string(topics.topic(.configSet(device)))),
            ] + members)
        if platform == .text {
            // In Home Assistant, a text that does not match its pattern is an error, and so is a missing one.
            let online = "'\(ContractEncoder.online)' if value_json.\(setting.path)"
            result.presence = (topic, "{{ \(online) else '\(ContractEncoder.offline)' }}")
        }
        return result
    }

    private func parts(of setting: MonitorSetting) -> (Platform, [(String, JSONValue?)]) {
        let value = "value_json.\(setting.path)"
        switch setting.field.kind {
        case .toggle:
            return (
                .switch,
                [
                    // Jinja writes Booleans as Python does, and None makes the switch unknown.
                    ("value_template", .string("{{ \(value) }}")), ("state_on", "True"), ("state_off", "False"),
                    ("payload_on", .string(setting.patch("true"))),
                    ("payload_off", .string(setting.patch("false"))),
                ]
            )
        case .timeOfDay where options.compatibility >= .timePlatform:
            // A time picker has no 24:00; for an end, the gateway accepts 00:00 instead.
            let state = setting.field == .scheduleEnd ? "'00:00' if \(value) == '24:00' else \(value)" : value
            return (
                .time,
                [
                    ("value_template", .string("{{ \(state) }}")),
                    ("command_template", .string(setting.patch("\"{{ value }}\""))),
                ]
            )
        case .timeOfDay:
            return (
                .text,
                [
                    ("value_template", .string("{{ \(value) }}")),
                    ("command_template", .string(setting.patch("\"{{ value[:5] }}\""))),
                    ("pattern", "^(([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?|24:00)$"),
                    // 08:00:00, the format of scripts.
                    ("max", 8),
                ]
            )
        case .interval, .limit, .exerciseMaximum:
            let range = setting.range
            return (
                .number,
                [
                    ("value_template", .string("{{ \(value) }}")),
                    ("command_template", .string(setting.patch("{{ value }}"))),
                    ("min", range.map { .number($0.bounds.lowerBound) }),
                    ("max", range.map { .number($0.bounds.upperBound) }), ("step", range.map { .number($0.step) }),
                    ("mode", "box"), ("unit_of_measurement", range?.unit.map { .string($0) }),
                ]
            )
        }
    }
}

extension MonitorSetting {
    /// The merge patch that sets this setting to a value, given as JSON text or as a template of it.
    fileprivate func patch(_ value: String) -> String {
        let names = path.split(separator: ".")
        return names.map { "{\"\($0)\":" }.joined() + value + String(repeating: "}", count: names.count)
    }
}
