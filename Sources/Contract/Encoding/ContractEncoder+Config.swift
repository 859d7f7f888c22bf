import JSON
package import Vitals

extension ContractEncoder {
    /// The configuration of a device: what was accepted, and what of it the device has not confirmed yet.
    ///
    /// Before the device was ever connected it is what waits for it.
    package func config(_ state: TwinState, of device: DeviceID) -> OutgoingMessage {
        var settings = state.desired ?? state.reported
        if let waiting = state.waiting { settings.values.merge(waiting.changes) { $1 } }
        return message(.config(device), .config, capacity: 2048) { writer in
            writer.member("version", state.version)
            writer.member("reported_version", state.reportedVersion)
            writer.member("pending", texts: state.pending.map(\.path).sorted())
            writer.member("drift", texts: state.drift.map(\.path).sorted())
            writer.member("updated_at", state.updatedAt)
            writer.member("error", state.error)
            writer.members(of: settings)
        }
    }
}

extension JSONWriter {
    /// Writes every setting there is, by metric and group, `null` where it is not known: a template of a consumer then
    /// never meets a missing object.
    mutating func members(of settings: MonitorSettings, metrics: [Metric] = Metric.monitored) {
        for metric in metrics {
            key(escaping: metric.rawValue)
            beginObject()
            var openGroup: Substring?
            for field in MonitorSetting.Field.allCases where field.exists(for: metric) {
                let names = field.rawValue.split(separator: ".")
                let group = names.count > 1 ? names.first : nil
                if group != openGroup {
                    if openGroup != nil { endObject() }
                    if let group {
                        key(escaping: String(group))
                        beginObject()
                    }
                    openGroup = group
                }
                key(escaping: names.last.map(String.init) ?? field.rawValue)
                write(settings[metric, field], of: field)
            }
            if openGroup != nil { endObject() }
            endObject()
        }
    }

    /// Writes a setting's value: a time of day as `HH:MM`, `null` for one that is none or not known.
    private mutating func write(_ value: MonitorSetting.Value?, of field: MonitorSetting.Field) {
        switch value {
        case nil: null()
        case .toggle(let isOn): bool(isOn)
        case .number(let number) where field.kind == .timeOfDay:
            if let time = Int(exactly: number).flatMap(TimeOfDay.init(minutes:)) {
                string(time.description)
            } else {
                null()
            }
        case .number(let number): double(number)
        }
    }
}
