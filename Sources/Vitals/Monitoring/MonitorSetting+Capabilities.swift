extension MonitorSetting {
    /// Whether the setting can be used with a device of these capabilities.
    ///
    /// What the gateway does itself counts as ability, as it needs no more of the device than values:
    /// - The gateway evaluates limits for every fresh value. So limits are offered for each metric that the device
    ///   supports at all, also where the device itself cannot raise the alert. Limits at rest also serve a device
    ///   that has only a resting heart rate.
    /// - The gateway measures by a schedule where a device does not monitor a metric but measures it when asked to.
    ///   There, start, end and interval are the gateway's own and always offered. Where the device monitors by itself,
    ///   they need `Abilities.scheduleTime` and `.scheduleInterval`.
    /// - The exercise maximum serves the device alone (it computes zones), so the device must monitor the heart rate
    ///   or have limits for exercise.
    public func isOffered(by capabilities: Capabilities) -> Bool {
        guard exists else { return false }
        let abilities = capabilities.metrics[metric]
        switch field {
        case .restingAlertEnabled, .restingAlertLower, .restingAlertUpper:
            return abilities != nil || capabilities.supports(.restingHeartRate)
        case .alertEnabled, .alertLower, .alertUpper, .systolicLower, .systolicUpper, .diastolicLower, .diastolicUpper,
            .exerciseAlertEnabled, .exerciseAlertLower, .exerciseAlertUpper:
            return abilities != nil
        case .scheduleEnabled: return !(abilities ?? []).isDisjoint(with: [.monitor, .measure])
        case .scheduleStart, .scheduleEnd: return Self.canSchedule(abilities ?? [], by: .scheduleTime)
        case .scheduleInterval: return Self.canSchedule(abilities ?? [], by: .scheduleInterval)
        case .exerciseMaximum: return !(abilities ?? []).isDisjoint(with: [.monitor, .exerciseAlert])
        }
    }

    private static func canSchedule(_ abilities: Abilities, by ability: Abilities) -> Bool {
        abilities.contains(.monitor) ? abilities.contains(ability) : abilities.contains(.measure)
    }

    /// Why the setting is not offered by a device, and what would be needed.
    var requirement: String {
        let name = metric.rawValue
        guard exists else { return "is no setting of \(name)" }
        return switch field {
        case .scheduleEnabled: "needs a device that monitors or measures \(name); this one does neither"
        case .scheduleStart, .scheduleEnd:
            "needs a device whose times of monitoring \(name) can be set, or that measures it when asked to"
        case .scheduleInterval:
            "needs a device whose interval of monitoring \(name) can be set, or that measures it when asked to"
        case .exerciseMaximum: "needs a device that monitors \(name) or has limits for exercise"
        default: "needs a device that has \(name); this one has not"
        }
    }
}
