import JSON
import Vitals

extension Arguments {
    /// Members of a published configuration that are not settings. They are ignored, so that a consumer may change the
    /// document it received and send it back whole.
    private static let documentKeys = [
        "version", "reported_version", "pending", "drift", "reported", "updated_at", "error",
    ]

    /// Reads a configuration, whole or in part: a merge patch as in RFC 7396.
    ///
    /// `null`, by which a merge patch removes a member, is an error, since no setting can be removed. A whole
    /// document, recognised by its `schema`, may contain `null` for settings that the device does not have.
    mutating func configuration() -> DeviceCommand {
        let isWhole = member("schema", PayloadSchema.config.rawValue) { value in
            value.asString == PayloadSchema.config.rawValue ? true : nil
        }
        for name in ["if_version", "adopt"] where isNull(name) { refuse(name, "must not be null; leave it out") }
        let ifVersion = member("if_version", "a whole number, as `version` of the configuration") { value in
            value.asInt.flatMap { $0 >= 0 ? $0 : nil }
        }
        let adopts = bool("adopt") ?? false
        for name in Self.documentKeys { allow(name) }
        var patch = PatchDecoder(allowsNull: isWhole == true)
        for metric in Metric.monitored {
            allow(metric.rawValue)
            guard let member = member(metric.rawValue) else { continue }
            patch.read(member, at: metric.rawValue)
        }
        for violation in patch.violations { refuse(violation.path, violation.message) }
        refuseUnknown(of: Request.configSet, envelope: CommandParser.envelopeKeys)
        evaluate(patch.changes)
        return .configure(MonitorPatch(patch.changes), ifVersion: ifVersion, adopts: adopts)
    }

    /// If there is an error already, also checks the values that could be read, so that the sender gets all errors
    /// at once. Otherwise they are checked later, with the device's other settings and abilities.
    private mutating func evaluate(_ changes: [MonitorSetting: MonitorSetting.Value]) {
        guard !violations.isEmpty else { return }
        do throws(Violations) {
            _ = try MonitorPatch(changes).applied(to: MonitorSettings(), capabilities: nil)
        } catch {
            for violation in error.list { refuse(violation.path, violation.message) }
        }
    }
}

/// Reads the settings of a patch and collects unknown settings and wrong types.
private struct PatchDecoder {
    let allowsNull: Bool
    var changes: [MonitorSetting: MonitorSetting.Value] = [:]
    var violations: [Violation] = []

    init(allowsNull: Bool) { self.allowsNull = allowsNull }

    /// Reads the value at a path: a setting, or a group of settings.
    mutating func read(_ value: JSONValue, at path: String) {
        if value.isNull {
            if !allowsNull { refuse(path, "must not be null; leave it out to leave it as it is") }
            return
        }
        if let setting = MonitorSetting(path: path) { return read(value, of: setting) }
        let names = Self.members(below: path)
        guard let members = value.asObject else {
            return refuse(path, "must be an object with \(names.joined(separator: ", "))")
        }
        for member in members {
            let inner = "\(path).\(member.key)"
            if names.contains(member.key) {
                read(member.value, at: inner)
            } else {
                refuse(inner, "is no setting; known here are \(names.joined(separator: ", "))")
            }
        }
    }

    private mutating func read(_ value: JSONValue, of setting: MonitorSetting) {
        switch setting.field.kind {
        case .toggle:
            guard let isOn = value.asBool else { return refuse(setting.path, "must be true or false") }
            changes[setting] = .toggle(isOn)
        case .timeOfDay:
            let isEnd = setting.field == .scheduleEnd
            guard let time = value.asString.flatMap({ TimeOfDay($0, asEnd: isEnd) }) else {
                return refuse(setting.path, "must be a time such as \"08:00\", from 00:00 to 24:00")
            }
            changes[setting] = .number(Double(time.minutes))
        case .interval, .limit, .exerciseMaximum:
            guard let number = value.asDouble else { return refuse(setting.path, "must be a number") }
            changes[setting] = .number(number)
        }
    }

    private mutating func refuse(_ path: String, _ message: String) {
        violations.append(Violation(path: path, message: message))
    }

    /// The names of the settings and groups directly below a path, in the order of publication.
    private static func members(below path: String) -> [String] {
        var names: [String] = []
        for setting in MonitorSetting.all where setting.path.hasPrefix(path + ".") {
            let name = String(setting.path.dropFirst(path.count + 1).prefix { $0 != "." })
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}
