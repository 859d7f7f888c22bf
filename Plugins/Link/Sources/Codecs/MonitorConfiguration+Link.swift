import JSON
import Vitals

extension MonitorConfiguration {
    /// Reads a metric's configuration; `nil` if a part of it is malformed. Absent parts are parts that the device does
    /// not have.
    init?(link value: JSONValue, of metric: Metric) {
        guard value.asObject != nil else { return nil }
        var leaves: [MonitorSetting: MonitorSetting.Value] = [:]
        for field in MonitorSetting.Field.all(of: metric) {
            guard let part = value.part(field.group ?? field.name) else { continue }
            let leaf = field.group == nil ? part : part[field.name]
            guard let value = leaf.flatMap({ field.value(link: $0) }) else { return nil }
            leaves[MonitorSetting(metric, field)] = value
        }
        guard let configuration = MonitorSettings(leaves)[metric] ?? (try? MonitorConfiguration(of: metric)) else {
            return nil
        }
        self = configuration
    }

    /// Writes the members of a metric's configuration. Parts that are left out stay unchanged on the device.
    func write(to writer: inout JSONWriter) {
        var openGroup: String?
        for (field, value) in leaves {
            if field.group != openGroup {
                if openGroup != nil { writer.endObject() }
                if let group = field.group {
                    writer.key(escaping: group)
                    writer.beginObject()
                }
                openGroup = field.group
            }
            writer.key(escaping: field.name)
            switch value {
            case .toggle(let isOn): writer.bool(isOn)
            case .number(let number): writer.double(number)
            }
        }
        if openGroup != nil { writer.endObject() }
    }
}

extension MonitorSetting.Field {
    /// Reads a leaf; `nil` if it is not valid for this field. Limits are read exactly as the device has them.
    fileprivate func value(link value: JSONValue) -> MonitorSetting.Value? {
        switch kind {
        case .toggle: value.asBool.map { .toggle($0) }
        case .timeOfDay, .interval: value.asInt.flatMap { (0...1440).contains($0) ? .number(Double($0)) : nil }
        case .exerciseMaximum: value.asInt.flatMap { (1...1000).contains($0) ? .number(Double($0)) : nil }
        case .limit: value.asDouble.map { .number($0) }
        }
    }
}

extension JSONValue {
    /// The value of a key, `nil` if it is absent or `null`.
    fileprivate func part(_ key: String) -> JSONValue? {
        guard let value = self[key], !value.isNull else { return nil }
        return value
    }
}
