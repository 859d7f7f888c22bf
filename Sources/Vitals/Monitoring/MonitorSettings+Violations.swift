extension MonitorSettings {
    /// Every mistake in these settings that a change could have made, in the order of `MonitorSetting.all`: of each
    /// changed setting whether the device offers it and whether its value is possible, and of each pair with a changed
    /// setting whether the lower one is below the upper. A mistake of a pair names its second setting.
    ///
    /// What was not changed is not judged: a device may report what no rule allows, and that must not stand in the way of
    /// setting something else.
    /// - Parameters:
    ///   - capabilities: what the device can do; `nil` where that is not known yet, and nothing is unsupported.
    ///   - changed: the settings that were changed.
    public func violations(capabilities: Capabilities?, changed: Set<MonitorSetting>) -> [Violation] {
        var result = changed.filter { !$0.exists }.sorted { $0.path < $1.path }.map {
            Violation(path: $0.path, message: $0.requirement)
        }
        for setting in MonitorSetting.all {
            if changed.contains(setting) {
                if let capabilities, !setting.isOffered(by: capabilities) {
                    result.append(Violation(path: setting.path, code: .unsupported, message: setting.requirement))
                    continue
                }
                if let message = valueMistake(of: setting) {
                    result.append(Violation(path: setting.path, message: message))
                }
            }
            if let message = pairMistake(at: setting, changed: changed) {
                result.append(Violation(path: setting.path, message: message))
            }
        }
        return result
    }

    private func valueMistake(of setting: MonitorSetting) -> String? {
        switch (values[setting], setting.range) {
        case (nil, _): "must not be removed"
        case (.toggle, nil): nil
        case (.number(let number), let range?): range.contains(number) ? nil : range.requirement
        case (.number, nil): "must be true or false"
        case (.toggle, let range?): range.requirement
        }
    }

    /// What is wrong with a pair whose second setting is `setting`.
    private func pairMistake(at setting: MonitorSetting, changed: Set<MonitorSetting>) -> String? {
        guard let pair = MonitorSetting.Field.pairs.first(where: { $0.upper == setting.field }) else { return nil }
        let lower = MonitorSetting(setting.metric, pair.lower)
        guard changed.contains(setting) || changed.contains(lower), case .number(let upperNumber) = values[setting],
            case .number(let lowerNumber) = values[lower], !(lowerNumber < upperNumber)
        else { return nil }
        return setting.field.kind == .timeOfDay
            ? "must be after \(lower.path)" : "must be above \(lower.path), which is \(lowerNumber.shortText)"
    }
}
