import Contract
import JSON
import Vitals

extension Discovery {
    /// The sums and extremes of a day.
    func days(of device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        let metrics = Metric.allCases.filter { capabilities.supports($0) && $0.hasHistory }
        return metrics.flatMap { metric in
            metric.daySums.map { sum($0, of: metric, device, capabilities) }
                + extremes(of: metric, device, capabilities)
        } + zones(of: device, capabilities)
    }

    /// A day's payload within a template. Without a history the gateway's own sums are zero, so the device's summary is
    /// used.
    private func day(_ metric: Metric, _ capabilities: Capabilities) -> String {
        let isCounted = capabilities.supports(.history, metric) || !capabilities.supports(.summary, metric)
        return isCounted ? "value_json" : "(value_json.device_summary or value_json)"
    }

    private func sensor(
        _ device: DeviceID, _ metric: Metric, _ key: String, _ name: String, isEnabledByDefault: Bool = true,
        template: String, _ members: [(String, JSONValue?)]
    ) -> Component {
        Component(
            .sensor, key, name, isEnabledByDefault: isEnabledByDefault, availability: gatewayAndDevice(device),
            [
                ("state_topic", .string(topics.topic(.today(device, metric)))),
                ("value_template", .string("{{ \(template) }}")),
            ] + members)
    }

    private func sum(
        _ sum: MetricEntities.DaySum, of metric: Metric, _ device: DeviceID, _ capabilities: Capabilities
    ) -> Component {
        let day = day(metric, capabilities)
        // A day without records has a distance of zero. A day with steps but no distance has an unknown distance.
        let isAlwaysThere = sum.member == "total"
        let empty = "0 if not \(day).total else none"
        return sensor(
            device, metric, sum.key, sum.name,
            template: isAlwaysThere
                ? "\(day).\(sum.member)" : "\(day).\(sum.member) if \(day).\(sum.member) is not none else (\(empty))",
            [
                ("unit_of_measurement", .string(sum.unit)),
                ("suggested_display_precision", .number(isAlwaysThere ? Double(metric.decimals) : 0)),
                // Not `total_increasing`: after a withdrawal a counter falls, and that would count the day again.
                ("state_class", sum.isCounter ? "total" : "measurement"),
                ("last_reset_value_template", sum.isCounter ? "{{ value_json.day_start }}" : nil),
                ("device_class", sum.deviceClass.map { .string($0) }), ("icon", sum.icon.map { .string($0) }),
            ])
    }

    /// Today's lowest, highest and mean value; for a metric measured only at rest, today's single value.
    private func extremes(of metric: Metric, _ device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        let day = day(metric, capabilities)
        func extreme(_ key: String, _ name: String, _ template: String, isEnabled: Bool = false) -> Component {
            sensor(
                device, metric, key, name, isEnabledByDefault: isEnabled, template: template,
                number(of: metric) + [("state_class", "measurement")])
        }
        func sample(_ item: String, _ value: String) -> String { "\(item).\(value) if \(item) else none" }
        switch metric.shape {
        case .value where metric.restOf != nil:
            let last = "\(day).resting[-1].value if \(day).resting else none"
            return [extreme("\(metric.rawValue)_today", "\(metric.title) today", last, isEnabled: true)]
        case .value:
            return [
                extreme(
                    "\(metric.rawValue)_lowest", "\(metric.title) lowest today", sample("\(day).minimum", "value")),
                extreme(
                    "\(metric.rawValue)_highest", "\(metric.title) highest today", sample("\(day).maximum", "value")),
                extreme("\(metric.rawValue)_mean", "\(metric.title) mean today", "\(day).average"),
            ]
        case .pressure:
            return ["systolic", "diastolic"].flatMap { part in
                let (key, name) = ("\(metric.rawValue)_\(part)", "\(part.capitalizedFirst) pressure")
                return [
                    extreme(
                        "\(key)_lowest", "\(name) lowest today", sample("\(day).minimum_\(part)", "fields.\(part)")),
                    extreme(
                        "\(key)_highest", "\(name) highest today", sample("\(day).maximum_\(part)", "fields.\(part)")),
                    extreme("\(key)_mean", "\(name) mean today", sample("\(day).average", part)),
                ]
            }
        case .count, .sleep, .session: return []
        }
    }

    /// Today's minutes in each heart-rate zone, and those of today's last workout, for a device with the exercise maximum
    /// that defines the zones.
    private func zones(of device: DeviceID, _ capabilities: Capabilities) -> [Component] {
        let zoned = Metric.monitored.filter { MonitorSetting($0, .exerciseMaximum).isOffered(by: capabilities) }
        let sessions = Metric.allCases.filter { $0.shape == .session && capabilities.supports($0) }
        return zoned.flatMap { metric in
            (1...HeartRateZones.count).flatMap { zone in
                [
                    minutes(
                        inZone: zone, of: "value_json", where: "value_json",
                        sensor: (device, metric, "\(metric.rawValue)_zone", "\(metric.title) zone \(zone) today"))
                ]
                    + sessions.map {
                        minutes(
                            inZone: zone, of: "value_json.workouts[-1]", where: "value_json.workouts",
                            isEnabledByDefault: false,
                            sensor: (device, $0, "workout_zone", "Last workout's zone \(zone) today"))
                    }
            }
        }
    }

    /// The minutes in a zone of `parent`, which is a day's payload or a workout within it. It is there where `condition` holds:
    /// Home Assistant warns of what is taken from an empty list.
    private func minutes(
        inZone zone: Int, of parent: String, where condition: String, isEnabledByDefault: Bool = true,
        sensor: (device: DeviceID, metric: Metric, key: String, name: String)
    ) -> Component {
        let zones = "\(parent).zones_min"
        return self.sensor(
            sensor.device, sensor.metric, "\(sensor.key)_\(zone)", sensor.name, isEnabledByDefault: isEnabledByDefault,
            template: "\(zones)[\(zone - 1)] if \(condition) and \(zones) else none",
            [
                ("unit_of_measurement", "min"), ("suggested_display_precision", 0), ("state_class", "measurement"),
                ("device_class", "duration"), ("icon", "mdi:heart-flash"),
            ])
    }
}
