/// How a device monitors one metric: when it measures, and which values raise an alert.
///
/// An absent part is one that the device does not have. A part that the metric cannot have, such as limits in exercise
/// for a temperature, is refused by the initialiser.
public struct MonitorConfiguration: Sendable, Hashable {
    /// The metric.
    public let metric: Metric
    /// When and how often it measures.
    public var schedule: MonitorSchedule?
    /// Limits by subject, in the metric's unit: at rest and in exercise for the heart rate, both pressures for blood
    /// pressure, the only value for all others; and how fast it changes, per minute.
    public private(set) var limits: [AlertRule.Subject: AlertLimits]
    /// The highest heart rate in exercise, which defines the heart rate zones: 100–220 bpm, usually 220 minus age.
    public private(set) var exerciseMaximum: Int?

    /// A configuration of these parts.
    ///
    /// - Throws: `Violations` if the metric is not monitored or does not have one of the parts, or if limits that are
    ///   switched together (those of both pressures) are not both present or not both on or off. Numbers are not
    ///   checked: a device's report is shown as it is (`MonitorPatch.applied` checks what is set).
    public init(
        of metric: Metric, schedule: MonitorSchedule? = nil, limits: [AlertRule.Subject: AlertLimits] = [:],
        exerciseMaximum: Int? = nil
    ) throws(Violations) {
        var issues: [String] = []
        if !metric.isMonitored { issues.append("is not monitored") }
        for subject in AlertRule.Subject.allCases
        where limits[subject] != nil && !metric.alertSubjects.contains(subject) {
            issues.append("has no limits of \(subject.rawValue)")
        }
        if exerciseMaximum != nil, !metric.distinguishesExercise { issues.append("has no exercise maximum") }
        for group in metric.alertGroups {
            let members = metric.alertSubjects.filter { $0.group == group }
            let switches = members.map { limits[$0]?.isEnabled }
            if Set(switches).count > 1 {
                let names = members.map(\.rawValue).joined(separator: " and ")
                issues.append("has one switch for its limits of \(names), so both are there, and on or off")
            }
        }
        guard issues.isEmpty else {
            throw Violations(issues.map { Violation(path: metric.rawValue, message: $0) })
        }
        self.metric = metric
        self.schedule = schedule
        self.limits = limits
        self.exerciseMaximum = exerciseMaximum
    }

    /// Builds a configuration from leaves. Omits a part if one of its leaves is missing or has another type; `nil` if
    /// no part is left.
    init?(of metric: Metric, leaves: (MonitorSetting.Field) -> MonitorSetting.Value?) {
        func toggle(_ field: MonitorSetting.Field) -> Bool? {
            if case .toggle(let value) = leaves(field) { value } else { nil }
        }
        func number(_ field: MonitorSetting.Field) -> Double? {
            if case .number(let value) = leaves(field) { value } else { nil }
        }
        guard metric.isMonitored else { return nil }
        self.metric = metric
        limits = [:]
        if let isEnabled = toggle(.scheduleEnabled), let start = number(.scheduleStart), let end = number(.scheduleEnd),
            let interval = number(.scheduleInterval)
        {
            schedule = MonitorSchedule(
                isEnabled: isEnabled, start: Int(clamping: start), end: Int(clamping: end),
                interval: Int(clamping: interval))
        }
        for group in metric.alertGroups {
            let members = metric.alertSubjects.filter { $0.group == group }
            var found: [AlertRule.Subject: AlertLimits] = [:]
            for subject in members {
                guard let isEnabled = toggle(.enabled(group)), let lower = number(.lower(subject)),
                    let upper = number(.upper(subject))
                else { continue }
                found[subject] = AlertLimits(isEnabled: isEnabled, lower: lower, upper: upper)
            }
            if found.count == members.count { limits.merge(found) { $1 } }
        }
        if metric.distinguishesExercise { exerciseMaximum = number(.exerciseMaximum).map { Int(clamping: $0) } }
        if isEmpty { return nil }
    }

    /// Whether it has no part: the device reports nothing about the metric.
    public var isEmpty: Bool { schedule == nil && limits.isEmpty && exerciseMaximum == nil }

    /// This configuration with its parts replaced by those of `other`. Unchanged if `other` is for another metric.
    public func replacingParts(with other: MonitorConfiguration) -> MonitorConfiguration {
        guard other.metric == metric else { return self }
        var result = self
        result.schedule = other.schedule ?? schedule
        result.limits.merge(other.limits) { $1 }
        result.exerciseMaximum = other.exerciseMaximum ?? exerciseMaximum
        return result
    }

    /// This configuration without unwanted parts. `isWanted` is called with the leaf that switches the part on, or is
    /// the part.
    public func keepingParts(where isWanted: (MonitorSetting.Field) -> Bool) -> MonitorConfiguration {
        var result = self
        if !isWanted(.scheduleEnabled) { result.schedule = nil }
        result.limits = limits.filter { isWanted(.enabled($0.key.group)) }
        if !isWanted(.exerciseMaximum) { result.exerciseMaximum = nil }
        return result
    }
}

extension Int {
    /// The integer part of a number, clamped to ±1 billion; 0 for NaN. A device's report is shown as far as possible
    /// and never causes a trap.
    fileprivate init(clamping number: Double) {
        self = number.isNaN ? 0 : Int(Swift.min(Swift.max(number, -1e9), 1e9))
    }
}

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
