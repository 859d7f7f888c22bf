/// Schedules and limits of a device: what is wanted, and what the device says.
struct SettingsForm: Hashable, Sendable {
    /// The device's id.
    var id: String
    /// Sent back as `if_version`, so that nobody overwrites what he has not seen.
    var version: Int
    var groups: [SettingGroup]
    /// `settings.<id>`: the line below changes by itself.
    var status: SettingsStatus
    /// Whether the device has changes of its own, which the button adopts.
    var canAdopt: Bool
}

/// How far the settings are, in a line.
struct SettingsStatus: Hashable, Sendable {
    /// `settings.<id>`
    var key: String
    var mark: Mark
    /// "Two settings wait for the device.", "The device has all settings."
    var text: String
    /// Why the device refused.
    var problem: String?
}

/// The settings of a metric.
struct SettingGroup: Hashable, Sendable {
    var label: String
    var fields: [SettingField]
}

/// A setting.
struct SettingField: Hashable, Sendable {
    /// The setting's path, such as `heart_rate.resting_alert.upper`, which is the field's name in the form.
    var path: String
    /// "At rest, upper limit"
    var label: String
    /// Whether it is one that is on or off, and whether it is on.
    var isToggle: Bool
    var isOn: Bool
    /// A time of day from `00:00` to `24:00`: typed as text, since the time fields of browsers have neither 24:00 nor always 24 hours.
    var clock: String?
    /// A number. Exactly one of the three kinds is set.
    var amount: NumberInput?
    var condition: SettingCondition
    /// Why the form was refused, which is shown with what was typed.
    var mistake: String?
}

/// A number with its bounds, as the browser wants them: with a point, without groups.
struct NumberInput: Hashable, Sendable {
    var value: String
    var least: String
    var greatest: String
    var step: String
    var unit: String?
}

/// What the device says of a setting.
struct SettingCondition: Hashable, Sendable {
    /// `setting.<id>.<path>`
    var key: String
    /// "waiting", "changed on the device", "refused"; `nil` if it has what is wanted.
    var mark: Mark?
    /// "The device has 110 bpm."
    var text: String?
}
