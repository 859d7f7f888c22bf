extension MonitorSetting {
    /// Whether the setting can be used with a device of these capabilities.
    ///
    /// The gateway's own work counts as an ability, since it only needs values from the device:
    /// - The gateway checks limits for every fresh value. So limits are offered for each metric that the device
    ///   supports, even if the device cannot raise the alert. Limits at rest also serve a device that only has a
    ///   resting heart rate.
    /// - The gateway measures on a schedule if a device measures a metric on demand but does not monitor it. Start, end
    ///   and interval are then always offered. If the device itself monitors, they need `Abilities.scheduleTime` and
    ///   `.scheduleInterval`.
    /// - Limits in exercise are offered only if exercise is recognised (``Capabilities/recognisesExercise``): otherwise
    ///   every heart rate counts as one at rest, and these limits would never be watched.
    /// - The exercise maximum is offered for any device with heart rates: the gateway uses it to count minutes in
    ///   zones.
    public func isOffered(by capabilities: Capabilities) -> Bool {
        guard exists else { return false }
        let abilities = capabilities.metrics[metric]
        switch field {
        case .enabled(.resting), .lower(.resting), .upper(.resting):
            return abilities != nil || capabilities.supportsRest(of: metric)
        case .enabled(.exercise), .lower(.exercise), .upper(.exercise): return capabilities.recognisesExercise
        case .enabled, .lower, .upper: return abilities != nil
        case .scheduleEnabled: return !(abilities ?? []).isDisjoint(with: [.monitor, .measure])
        case .scheduleStart, .scheduleEnd: return Self.canSchedule(abilities ?? [], by: .scheduleTime)
        case .scheduleInterval: return Self.canSchedule(abilities ?? [], by: .scheduleInterval)
        case .exerciseMaximum: return abilities != nil
        }
    }

    private static func canSchedule(_ abilities: Abilities, by ability: Abilities) -> Bool {
        abilities.contains(.monitor) ? abilities.contains(ability) : abilities.contains(.measure)
    }

    /// Why a device does not offer the setting, and what it would need.
    var requirement: String {
        let name = metric.rawValue
        guard exists else { return "is no setting of \(name)" }
        return switch field {
        case .scheduleEnabled: "needs a device that monitors or measures \(name); this one does neither"
        case .scheduleStart, .scheduleEnd:
            "needs a device whose times of monitoring \(name) can be set, or that measures it when asked to"
        case .scheduleInterval:
            "needs a device whose interval of monitoring \(name) can be set, or that measures it when asked to"
        case .enabled(.exercise), .lower(.exercise), .upper(.exercise):
            "needs a device that reports exercise: by its own limits, by samples that say so, or by records of workouts"
        default: "needs a device that has \(name); this one has not"
        }
    }
}
