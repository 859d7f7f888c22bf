import JSON
package import MQTT
package import Vitals

extension ContractEncoder {
    /// The configuration of a device: the accepted settings, and those that the device has not confirmed yet.
    ///
    /// Before the device's first connection it consists of the settings that wait for it.
    package func config(_ state: TwinState, of device: DeviceID) -> OutgoingMessage {
        var settings = (state.desired ?? state.reported).values
        if let waiting = state.waiting { settings.merge(waiting.changes) { $1 } }
        return message(.config(device), .config, capacity: 2048) { writer in
            writer.member("version", state.version)
            writer.member("reported_version", state.reportedVersion)
            writer.member("pending", texts: state.pending.map(\.path).sorted())
            writer.member("drift", texts: state.drift.map(\.path).sorted())
            writer.member("reported") { writer in
                let differing = state.pending.union(state.drift).sorted { $0.path < $1.path }
                for setting in differing {
                    writer.key(escaping: setting.path)
                    writer.write(state.reported.values[setting], of: setting.field)
                }
            }
            writer.member("updated_at", state.updatedAt)
            writer.member("error", state.error)
            writer.members(of: settings)
        }
    }
}

extension JSONWriter {
    /// Writes every setting, by metric and group; unknown ones are `null`, so that a consumer's template never meets a
    /// missing object.
    mutating func members(
        of settings: [MonitorSetting: MonitorSetting.Value], metrics: [Metric] = Metric.monitored
    ) {
        for metric in metrics {
            key(escaping: metric.rawValue)
            beginObject()
            var openGroup: String?
            for field in MonitorSetting.Field.all(of: metric) {
                if field.group != openGroup {
                    if openGroup != nil { endObject() }
                    if let group = field.group {
                        key(escaping: group)
                        beginObject()
                    }
                    openGroup = field.group
                }
                key(escaping: field.name)
                write(settings[MonitorSetting(metric, field)], of: field)
            }
            if openGroup != nil { endObject() }
            endObject()
        }
    }

    /// Writes a setting's value: a time of day as `HH:MM`, an absent or unknown value as `null`.
    fileprivate mutating func write(_ value: MonitorSetting.Value?, of field: MonitorSetting.Field) {
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
