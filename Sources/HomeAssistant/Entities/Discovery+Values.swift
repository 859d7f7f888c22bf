import Contract
import JSON
import Vitals

extension Discovery {
    /// Entities for the newest values. The template of a stale value yields None, which Home Assistant shows as
    /// unknown.
    func values(of device: DeviceInfo, _ capabilities: Capabilities) -> [Component] {
        Metric.allCases.filter { capabilities.supports($0) && $0.hasHistory }.flatMap { metric -> [Component] in
            switch metric.shape {
            case .value: [latest(device, metric, metric.rawValue, metric.title)]
            case .pressure:
                ["systolic", "diastolic"].map { part in
                    latest(
                        device, metric, "\(metric.rawValue)_\(part)", "\(part.capitalizedFirst) pressure",
                        template: "{{ value_json.fields.\(part) if value_json.fields else none }}")
                }
            case .count: []
            case .sleep: [last(device.id, metric, "last_sleep", "Last sleep", icon: "mdi:sleep", Self.stages)]
            case .session:
                [last(device.id, metric, "last_workout", "Last workout", icon: "mdi:dumbbell", "value_json.fields")]
            }
        }
    }

    /// A sensor for the newest value of a metric, with its qualifiers as attributes.
    func latest(
        _ device: DeviceInfo, _ metric: Metric, _ key: String, _ name: String, category: Component.Category? = nil,
        template: String = "{{ value_json.value }}"
    ) -> Component {
        let topic = JSONValue.string(topics.topic(.latest(device.id, metric)))
        let attributes: [(String, JSONValue?)] =
            metric.qualifiers.isEmpty
            ? []
            : [
                ("json_attributes_topic", topic),
                ("json_attributes_template", "{{ (value_json.fields or {}) | tojson }}"),
            ]
        return Component(
            .sensor, key, name, category: category, availability: gatewayAndDevice(device.id),
            [("state_topic", topic), ("value_template", .string(template))] + number(of: metric) + [
                ("state_class", "measurement"), ("expire_after", device.freshness[metric].map(expiry)),
            ] + attributes)
    }

    /// The common members of all sensors of a metric's number: unit, decimals, class and icon.
    func number(of metric: Metric) -> [(String, JSONValue?)] {
        let entities = metric.entities
        let isClassKnown = entities.deviceClassSince.map { $0 <= options.compatibility } ?? true
        return [
            ("unit_of_measurement", metric.unit.map { .string($0) }),
            ("suggested_display_precision", .number(Double(metric.decimals))),
            ("device_class", isClassKnown ? entities.deviceClass.map { .string($0) } : nil),
            ("icon", entities.icon.map { .string($0) }),
        ]
    }

    /// How long a value is fresh, in whole seconds, rounded up.
    private func expiry(_ freshness: Duration) -> JSONValue { .number(Double((freshness.inMilliseconds + 999) / 1000)) }

    /// A sensor for the minutes of the newest sleep or workout, with its other fields as attributes.
    private func last(
        _ device: DeviceID, _ metric: Metric, _ key: String, _ name: String, icon: String, _ fields: String
    ) -> Component {
        let topic = JSONValue.string(topics.topic(.latest(device, metric)))
        return Component(
            .sensor, key, name, availability: gatewayAndDevice(device),
            [
                ("state_topic", topic), ("value_template", "{{ value_json.value }}"),
                ("unit_of_measurement", "min"), ("suggested_display_precision", 0), ("device_class", "duration"),
                ("icon", .string(icon)), ("json_attributes_topic", topic),
                (
                    "json_attributes_template",
                    .string("{{ dict(\(fields) or {}, ended_at=value_json.measured_at) | tojson }}")
                ),
            ])
    }

    /// The fields of a sleep. Home Assistant stores at most 16 KiB of attributes, and a stage has about 90 bytes, so a
    /// sleep with more than `maximumStages` stages shows only the minutes in each.
    private static let stages =
        "dict(value_json.fields, stages=value_json.fields.stages if value_json.fields.stages | count <= \(maximumStages) "
        + "else []) if value_json.fields else none"
    private static let maximumStages = 150
}
