import Contract
import JSON
import Vitals

extension Discovery {
    /// The newest values. Where one is not fresh any more, its template gives None, which is unknown in Home Assistant.
    func values(of device: DeviceInfo, _ capabilities: Capabilities) -> [Component] {
        var result: [Component] = []
        for metric in Metric.allCases where capabilities.supports(metric) {
            let name = metric.title
            switch metric {
            case .heartRate, .restingHeartRate:
                result.append(latest(device, metric, metric.rawValue, name, [("icon", "mdi:heart-pulse")]))
            case .bloodPressure:
                for part in ["systolic", "diastolic"] {
                    result.append(
                        latest(
                            device, metric, "blood_pressure_\(part)", "\(part.capitalizedFirst) pressure",
                            template: "{{ value_json.fields.\(part) if value_json.fields else none }}",
                            [("device_class", "pressure")]))
                }
            case .bloodOxygen:
                result.append(latest(device, metric, metric.rawValue, name, [("icon", "mdi:water-percent")]))
            case .stress:
                result.append(latest(device, metric, metric.rawValue, name, [("icon", "mdi:head-cog-outline")]))
            case .temperature:
                result.append(latest(device, metric, metric.rawValue, name, [("device_class", "temperature")]))
            case .steps, .sleep, .sport, .battery: break
            }
        }
        return result
    }

    /// A sensor for the newest value of a metric.
    func latest(
        _ device: DeviceInfo, _ metric: Metric, _ key: String, _ name: String, category: Component.Category? = nil,
        template: String = "{{ value_json.value }}", _ members: [(String, JSONValue?)]
    ) -> Component {
        Component(
            .sensor, key, name, category: category, availability: gatewayAndDevice(device.id),
            [
                ("state_topic", .string(topics.topic(.latest(device.id, metric)))),
                ("value_template", .string(template)), ("unit_of_measurement", metric.unit.map { .string($0) }),
                ("state_class", "measurement"), ("expire_after", device.freshness[metric].map(expiry)),
            ] + members)
    }

    /// Whole seconds for which a value is fresh, rounded up.
    private func expiry(_ freshness: Duration) -> JSONValue { .number(Double((freshness.inMilliseconds + 999) / 1000)) }

    /// What a day adds up to.
    func totals(of device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        func total(
            _ metric: Metric, _ key: String, _ name: String, member: String, unit: JSONValue,
            stateClass: JSONValue, _ members: [(String, JSONValue?)]
        ) -> Component {
            // Without records the sums of the gateway are zero, and the device knows better.
            let isCounted = capabilities.supports(.history, metric) || !capabilities.supports(.summary, metric)
            let day = isCounted ? "value_json" : "(value_json.device_summary or value_json)"
            return Component(
                .sensor, key, name, availability: gatewayAndDevice(device),
                [
                    ("state_topic", .string(topics.topic(.today(device, metric)))),
                    ("value_template", .string("{{ \(day).\(member) }}")), ("unit_of_measurement", unit),
                    ("state_class", stateClass),
                ] + members)
        }
        var result: [Component] = []
        if capabilities.supports(.steps) {
            result += [
                total(
                    .steps, "steps", "Steps today", member: "total", unit: "steps", stateClass: "total_increasing",
                    [("icon", "mdi:walk")]),
                total(
                    .steps, "distance", "Distance today", member: "distance_m", unit: "m",
                    stateClass: "total_increasing", [("device_class", "distance")]),
                total(
                    .steps, "energy", "Energy today", member: "energy_kcal", unit: "kcal",
                    stateClass: "total_increasing", [("device_class", "energy")]),
            ]
        }
        if capabilities.supports(.sleep) {
            result.append(
                total(
                    .sleep, "sleep", "Sleep last night", member: "total", unit: "min", stateClass: "measurement",
                    [("device_class", "duration"), ("icon", "mdi:sleep")]))
        }
        return result
    }
}
