extension MonitorSettings {
    /// All errors that a change could have made in these settings, in the order of `MonitorSetting.all`: for each
    /// changed setting, whether the device offers it and its value is possible; for each pair with a changed setting,
    /// whether the lower value is below the upper. An error in a pair names its second setting.
    ///
    /// Unchanged settings are not checked: a device may report values that break the rules, which must not prevent
    /// other changes.
    /// - Parameters:
    ///   - capabilities: the device's capabilities; `nil` if not known yet: then nothing is unsupported.
    ///   - changed: the changed settings.
    public func violations(capabilities: Capabilities?, changed: Set<MonitorSetting>) -> [Violation] {
        MonitorPatch.violations(of: values, capabilities: capabilities, changed: changed)
    }
}

extension MonitorPatch {
    /// All errors in a table of leaves, as in `MonitorSettings.violations`.
    static func violations(
        of values: [MonitorSetting: MonitorSetting.Value], capabilities: Capabilities?, changed: Set<MonitorSetting>
    ) -> [Violation] {
        var result = changed.filter { !$0.exists }.sorted { $0.path < $1.path }.map {
            Violation(path: $0.path, message: $0.requirement)
        }
        for setting in MonitorSetting.all {
            if changed.contains(setting) {
                if let capabilities, !setting.isOffered(by: capabilities) {
                    result.append(Violation(path: setting.path, code: .unsupported, message: setting.requirement))
                    continue
                }
                if let message = valueIssue(of: setting, values[setting]) {
                    result.append(Violation(path: setting.path, message: message))
                }
            }
            if let message = pairIssue(at: setting, values, changed: changed) {
                result.append(Violation(path: setting.path, message: message))
            }
        }
        return result
    }

    private static func valueIssue(of setting: MonitorSetting, _ value: MonitorSetting.Value?) -> String? {
        switch (value, setting.range) {
        case (nil, _): "must not be removed"
        case (.toggle, nil): nil
        case (.number(let number), let range?): range.contains(number) ? nil : range.requirement
        case (.number, nil): "must be true or false"
        case (.toggle, let range?): range.requirement
        }
    }

    /// The error in a pair whose second setting is `setting`, if any.
    private static func pairIssue(
        at setting: MonitorSetting, _ values: [MonitorSetting: MonitorSetting.Value], changed: Set<MonitorSetting>
    ) -> String? {
        guard let lower = setting.lowerOfPair, changed.contains(setting) || changed.contains(lower),
            case .number(let upperNumber) = values[setting], case .number(let lowerNumber) = values[lower],
            !(lowerNumber < upperNumber)
        else { return nil }
        return setting.field.kind == .timeOfDay
            ? "must be after \(lower.path)" : "must be above \(lower.path), which is \(lowerNumber.shortText)"
    }
}
