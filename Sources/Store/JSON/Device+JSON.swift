import JSON
import Vitals

extension DeviceIdentity {
    var json: JSONValue {
        .record([
            ("manufacturer", .of(manufacturer)), ("model", .of(model)), ("serial", .of(serial)),
            ("firmware", .of(firmware)), ("hardware", .of(hardware)),
        ])
    }

    init(json: JSONValue) {
        self.init(
            manufacturer: json["manufacturer"]?.asString, model: json["model"]?.asString,
            serial: json["serial"]?.asString, firmware: json["firmware"]?.asString,
            hardware: json["hardware"]?.asString)
    }
}

extension Capabilities {
    var json: JSONValue {
        let entries = Metric.allCases.compactMap { metric in
            metrics[metric].map { (key: metric.rawValue, value: JSONValue.number(Double($0.rawValue))) }
        }
        return .record([("metrics", .record(entries)), ("max_history_days", .of(maximumHistoryDays))])
    }

    /// Metrics unknown to this version are skipped.
    init(json: JSONValue) {
        var metrics: [Metric: Abilities] = [:]
        for member in json["metrics"]?.asObject ?? [] {
            guard let metric = Metric(rawValue: member.key), let bits = member.value.asInt else { continue }
            metrics[metric] = Abilities(rawValue: UInt16(truncatingIfNeeded: bits))
        }
        self.init(metrics, maximumHistoryDays: json["max_history_days"]?.asInt)
    }
}

extension TwinState {
    var json: JSONValue {
        .record([
            ("desired", desired.map { Self.json(of: $0.values) }), ("version", .of(version)),
            ("reported", Self.json(of: reported.values)), ("reported_version", .of(reportedVersion)),
            ("pending", Self.json(of: pending)), ("drift", Self.json(of: drift)), ("error", .of(error)),
            ("updated_at", .time(updatedAt)), ("waiting", waiting.map { Self.json(of: $0.changes) }),
        ])
    }

    init(json: JSONValue) throws {
        self.init(
            desired: json["desired"].map { MonitorSettings(Self.settings($0)) }, version: try json.integer("version"),
            reported: MonitorSettings(json["reported"].map(Self.settings) ?? [:]),
            reportedVersion: try json.integer("reported_version"), pending: Self.set(try json.list("pending")),
            drift: Self.set(try json.list("drift")), error: json["error"]?.asString,
            updatedAt: try json.time("updated_at"), waiting: json["waiting"].map { MonitorPatch(Self.settings($0)) })
    }

    private static func json(of settings: Set<MonitorSetting>) -> JSONValue {
        .array(settings.map(\.path).sorted().map { .string($0) })
    }

    private static func json(of settings: [MonitorSetting: MonitorSetting.Value]) -> JSONValue {
        .record(
            settings.sorted { $0.key.path < $1.key.path }.map { setting, value in
                switch value {
                case .toggle(let isOn): (setting.path, .bool(isOn))
                case .number(let number): (setting.path, .number(number))
                }
            })
    }

    /// Settings unknown to this version are skipped.
    private static func settings(_ json: JSONValue) -> [MonitorSetting: MonitorSetting.Value] {
        var result: [MonitorSetting: MonitorSetting.Value] = [:]
        for member in json.asObject ?? [] {
            guard let setting = MonitorSetting(path: member.key) else { continue }
            if let isOn = member.value.asBool { result[setting] = .toggle(isOn) }
            if let number = member.value.asDouble { result[setting] = .number(number) }
        }
        return result
    }

    private static func set(_ json: [JSONValue]) -> Set<MonitorSetting> {
        Set(json.compactMap { $0.asString.flatMap(MonitorSetting.init(path:)) })
    }
}
