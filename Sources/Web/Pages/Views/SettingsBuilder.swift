import JSON
import Vitals

/// Makes the form of a device's schedules and limits, and reads what it sends.
struct SettingsBuilder: Sendable {
    let device: ShownDevice

    /// What came of a form that was not taken.
    struct Refusal: Sendable {
        /// What was typed.
        var typed: FormFields
        /// What is wrong, by the paths of settings.
        var mistakes: [String: String]
    }

    /// The settings that the device offers and that are known, in their order.
    private var offered: [(setting: MonitorSetting, value: MonitorSetting.Value)] {
        guard let capabilities = device.capabilities, let desired = device.twin?.desired else { return [] }
        return MonitorSetting.all.compactMap { setting in
            guard setting.isOffered(by: capabilities), let value = desired[setting.metric, setting.field] else {
                return nil
            }
            return (setting: setting, value: value)
        }
    }

    /// The form, with what was typed if it was refused.
    func form(_ refusal: Refusal? = nil) -> SettingsForm {
        var groups: [SettingGroup] = []
        var last: Metric?
        for (setting, value) in offered {
            if setting.metric != last {
                groups.append(SettingGroup(label: Wording.name(of: setting.metric), fields: []))
            }
            last = setting.metric
            groups[groups.count - 1].fields.append(field(setting, value, refusal))
        }
        // What was typed belongs to the version that was seen: somebody else's change since then must not be overwritten.
        let seen = refusal?.typed["if_version"].flatMap { Int($0) }
        return SettingsForm(
            id: device.id.text, version: seen ?? device.twin?.version ?? 0, groups: groups, status: status,
            canAdopt: !(device.twin?.drift.isEmpty ?? true) || device.twin?.error != nil)
    }

    /// How far the settings are.
    var status: SettingsStatus {
        let key = "settings.\(device.id)"
        guard let twin = device.twin, twin.desired != nil else {
            return SettingsStatus(
                key: key, mark: Mark("unknown"), text: "The device has not said its settings yet.", problem: nil)
        }
        var texts: [String] = []
        if !twin.pending.isEmpty {
            let verb = twin.pending.count == 1 ? "waits" : "wait"
            texts.append("\(NumberText.count(twin.pending.count, "setting")) \(verb) for the device.")
        }
        if !twin.drift.isEmpty {
            let verb = twin.drift.count == 1 ? "was" : "were"
            texts.append("\(NumberText.count(twin.drift.count, "setting")) \(verb) changed on the device.")
        }
        guard texts.isEmpty else {
            return SettingsStatus(
                key: key, mark: Mark(twin.pending.isEmpty ? "changed" : "pending", .warn),
                text: texts.joined(separator: " "), problem: twin.error)
        }
        return SettingsStatus(
            key: key, mark: Mark("confirmed", .good), text: "The device has all settings.", problem: twin.error)
    }

    /// What the device says of each setting, for what follows later.
    var conditions: [SettingCondition] { offered.map { condition($0.setting) } }

    private func field(
        _ setting: MonitorSetting, _ value: MonitorSetting.Value, _ refusal: Refusal?
    ) -> SettingField {
        let typed = refusal?.typed
        var field = SettingField(
            path: setting.path, label: Self.label(setting.field), isToggle: false, isOn: false, clock: nil, amount: nil,
            condition: condition(setting), mistake: refusal?.mistakes[setting.path].map(Self.named))
        switch (value, setting.range) {
        case (.toggle(let isOn), _):
            field.isToggle = true
            field.isOn = typed.map { $0[setting.path] == "true" } ?? isOn
        case (.number(let number), let range?):
            if setting.field.kind == .timeOfDay {
                field.clock = typed?[setting.path] ?? TimeText.clock(Int(number))
            } else {
                let decimals = range.step < 1 ? 1 : 0
                field.amount = NumberInput(
                    value: typed?[setting.path] ?? Self.plain(number, decimals),
                    least: Self.plain(range.bounds.lowerBound, decimals),
                    greatest: Self.plain(range.bounds.upperBound, decimals), step: Self.plain(range.step, decimals),
                    unit: range.unit)
            }
        case (.number(let number), nil):
            field.amount = NumberInput(
                value: typed?[setting.path] ?? Self.plain(number, 0), least: "0", greatest: "0", step: "1", unit: nil)
        }
        return field
    }

    private func condition(_ setting: MonitorSetting) -> SettingCondition {
        var condition = SettingCondition(key: "setting.\(device.id).\(setting.path)", mark: nil, text: nil)
        guard let twin = device.twin else { return condition }
        let reported = twin.reported[setting.metric, setting.field].map { Self.text($0, of: setting) }
        if twin.pending.contains(setting) {
            condition.mark = twin.error == nil ? Mark("waiting", .warn) : Mark("refused", .bad)
        } else if twin.drift.contains(setting) {
            condition.mark = Mark("changed on the device", .warn)
        }
        if condition.mark != nil { condition.text = reported.map { "The device has \($0)." } }
        return condition
    }

    // MARK: - What the form sends

    /// The arguments of `config` for a form; or what is wrong with it.
    func patch(_ fields: FormFields) -> Result<JSONValue, MistakenForm> {
        guard let version = fields["if_version"].flatMap({ Int($0) }) else {
            return .failure(MistakenForm(mistakes: [:]))
        }
        var members: [JSONValue.Member] = [JSONValue.Member("if_version", .number(Double(version)))]
        if fields["adopt"] == "true" {
            members.append(JSONValue.Member("adopt", true))
            return .success(.object(members))
        }
        var mistakes: [String: String] = [:]
        var changes: [Metric: [(field: MonitorSetting.Field, value: JSONValue)]] = [:]
        for (setting, current) in offered {
            let text = fields.text(setting.path)
            let value: JSONValue
            let isChanged: Bool
            switch (current, setting.field.kind) {
            case (.toggle(let isOn), _):
                (value, isChanged) = (.bool(text == "true"), (text == "true") != isOn)
            case (.number(let number), .timeOfDay):
                let padded = text.map { $0.count == 4 ? "0\($0)" : $0 } ?? ""
                guard let time = TimeOfDay(padded) else {
                    mistakes[setting.path] = "must be a time from 00:00 to 24:00"
                    continue
                }
                (value, isChanged) = (.string(time.description), Double(time.minutes) != number)
            case (.number(let number), _):
                // A comma is a point in many languages.
                guard let typed = text.flatMap({ Double($0.replacing(",", with: ".")) }), typed.isFinite else {
                    mistakes[setting.path] = "must be a number"
                    continue
                }
                (value, isChanged) = (.number(typed), typed != number)
            }
            if isChanged { changes[setting.metric, default: []].append((setting.field, value)) }
        }
        guard mistakes.isEmpty else { return .failure(MistakenForm(mistakes: mistakes)) }
        for metric in Metric.monitored {
            guard let found = changes[metric] else { continue }
            var parts: [JSONValue.Member] = []
            var done: [String?] = []
            for change in found where !done.contains(change.field.group) {
                let group = change.field.group
                done.append(group)
                let leaves = found.filter { $0.field.group == group }
                    .map { JSONValue.Member($0.field.name, $0.value) }
                if let group { parts.append(JSONValue.Member(group, .object(leaves))) } else { parts += leaves }
            }
            members.append(JSONValue.Member(metric.rawValue, .object(parts)))
        }
        return .success(.object(members))
    }

    /// A form that is not sent on.
    struct MistakenForm: Error, Sendable {
        /// What is wrong, by the paths of settings; empty for a form that no page has.
        var mistakes: [String: String]
    }

    // MARK: - Words

    private static func label(_ field: MonitorSetting.Field) -> String {
        switch field {
        case .scheduleEnabled: "Measure by itself"
        case .scheduleStart: "From"
        case .scheduleEnd: "To"
        case .scheduleInterval: "Every"
        case .enabled(.alert): "Alert"
        case .enabled(.resting): "Alert at rest"
        case .enabled(.exercise): "Alert in exercise"
        case .enabled(.rate): "Alert if it changes fast"
        case .lower(let subject): "\(name(subject))lower limit".capitalisedFirst
        case .upper(let subject): "\(name(subject))upper limit".capitalisedFirst
        case .exerciseMaximum: "Highest in exercise"
        }
    }

    /// A message about a setting, with the names of other settings in the place of their paths.
    private static func named(_ message: String) -> String {
        MonitorSetting.all.reduce(message) { text, setting in
            text.replacing(setting.path, with: "“\(label(setting.field))”")
        }
    }

    private static func name(_ subject: AlertRule.Subject) -> String {
        switch subject {
        case .value: ""
        case .resting: "at rest, "
        case .exercise: "in exercise, "
        case .systolic: "systolic, "
        case .diastolic: "diastolic, "
        case .rate: "per minute, "
        }
    }

    private static func text(_ value: MonitorSetting.Value, of setting: MonitorSetting) -> String {
        switch value {
        case .toggle(let isOn): return isOn ? "this on" : "this off"
        case .number(let number):
            if setting.field.kind == .timeOfDay { return TimeText.clock(Int(number)) }
            let text = plain(number, setting.range.map { $0.step < 1 ? 1 : 0 } ?? 0)
            return setting.range?.unit.map { "\(text) \($0)" } ?? text
        }
    }

    /// As the number fields of browsers want it: with a point, and without groups.
    private static func plain(_ number: Double, _ decimals: Int) -> String {
        NumberText.of(number, decimals: decimals).replacing(",", with: "").replacing("−", with: "-")
    }
}

extension String {
    fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
