import JSON
import Vitals

extension MonitorConfiguration {
    /// The present parts, in the device's format of Vitals Link: groups of leaves.
    var onLink: JSONValue {
        var parts: [JSONValue.Member] = []
        for (field, value) in leaves {
            let leaf = JSONValue.Member(field.name, JSONValue(onLink: value))
            if let group = field.group {
                if parts.last?.key != group { parts.append(JSONValue.Member(group, [:])) }
                let others = parts.removeLast().value.asObject ?? []
                parts.append(JSONValue.Member(group, .object(others + [leaf])))
            } else {
                parts.append(leaf)
            }
        }
        return .object(parts)
    }

    /// Reads a metric's configuration from `monitor/write`; `nil` if a part is incomplete or not valid for the metric.
    init?(onLink value: JSONValue, of metric: Metric) {
        var leaves: [MonitorSetting: MonitorSetting.Value] = [:]
        for field in MonitorSetting.Field.all(of: metric) {
            guard let part = value[field.group ?? field.name] else { continue }
            let leaf = field.group == nil ? part : part[field.name]
            guard let setting = leaf.flatMap({ field.value(onLink: $0) }) else { return nil }
            leaves[MonitorSetting(metric, field)] = setting
        }
        guard let configuration = MonitorSettings(leaves)[metric] ?? (try? MonitorConfiguration(of: metric)) else {
            return nil
        }
        self = configuration
    }
}

extension MonitorSetting.Field {
    fileprivate func value(onLink leaf: JSONValue) -> MonitorSetting.Value? {
        switch kind {
        case .toggle: leaf.asBool.map { .toggle($0) }
        case .timeOfDay, .interval, .exerciseMaximum: leaf.asInt.map { .number(Double($0)) }
        case .limit: leaf.asDouble.map { .number($0) }
        }
    }
}

extension JSONValue {
    fileprivate init(onLink value: MonitorSetting.Value) {
        switch value {
        case .toggle(let isOn): self = .bool(isOn)
        case .number(let number): self = .number(number)
        }
    }
}
