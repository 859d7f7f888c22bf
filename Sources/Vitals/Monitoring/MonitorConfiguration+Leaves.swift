extension MonitorConfiguration {
    /// The leaves of all parts present, in the order of `MonitorSetting.Field.all(of:)`.
    public var leaves: [(field: MonitorSetting.Field, value: MonitorSetting.Value)] {
        MonitorSetting.Field.all(of: metric).compactMap { field in self[field].map { (field, $0) } }
    }

    /// The value of a leaf; `nil` if its part is absent.
    public subscript(field: MonitorSetting.Field) -> MonitorSetting.Value? {
        switch field {
        case .scheduleEnabled: schedule.map { .toggle($0.isEnabled) }
        case .scheduleStart: schedule.map { .number(Double($0.start)) }
        case .scheduleEnd: schedule.map { .number(Double($0.end)) }
        case .scheduleInterval: schedule.map { .number(Double($0.interval)) }
        case .enabled(let group): limits.first { $0.key.group == group }.map { .toggle($0.value.isEnabled) }
        case .lower(let subject): limits[subject].map { .number($0.lower) }
        case .upper(let subject): limits[subject].map { .number($0.upper) }
        case .exerciseMaximum: exerciseMaximum.map { .number(Double($0)) }
        }
    }
}
