import JSON
import Vitals

extension JSONWriter {
    /// Writes the members of a configuration, those that it has.
    mutating func linkConfiguration(_ configuration: MonitorConfiguration) {
        if let schedule = configuration.schedule {
            member("schedule") { part in
                part.member("enabled", schedule.isEnabled)
                part.member("start", schedule.start)
                part.member("end", schedule.end)
                part.member("interval_min", schedule.interval)
            }
        }
        if let limits = configuration.alert { member("alert") { $0.linkLimits(limits) } }
        if let limits = configuration.restingAlert { member("resting_alert") { $0.linkLimits(limits) } }
        if let limits = configuration.exerciseAlert { member("exercise_alert") { $0.linkLimits(limits) } }
        if let maximum = configuration.exerciseMaximum { member("exercise_max_bpm", maximum) }
        if let limits = configuration.pressureAlert {
            member("alert") { part in
                part.member("enabled", limits.isEnabled)
                part.member("systolic_lower", limits.systolicLower)
                part.member("systolic_upper", limits.systolicUpper)
                part.member("diastolic_lower", limits.diastolicLower)
                part.member("diastolic_upper", limits.diastolicUpper)
            }
        }
    }

    private mutating func linkLimits(_ limits: AlertLimits) {
        member("enabled", limits.isEnabled)
        member("lower", limits.lower)
        member("upper", limits.upper)
    }
}

extension MonitorConfiguration {
    /// The configuration of a metric from `monitor/write`; `nil` where one of its parts is incomplete.
    init?(onLink value: JSONValue, of metric: Metric) {
        self.init()
        for member in value.asObject ?? [] {
            let part = member.value
            let limits = AlertLimits(onLink: part)
            switch member.key {
            case "schedule":
                guard let isEnabled = part["enabled"]?.asBool, let start = part["start"]?.asInt,
                    let end = part["end"]?.asInt, let interval = part["interval_min"]?.asInt
                else { return nil }
                schedule = MonitorSchedule(isEnabled: isEnabled, start: start, end: end, interval: interval)
            case "alert" where metric == .bloodPressure:
                guard let pressures = BloodPressureLimits(onLink: part) else { return nil }
                pressureAlert = pressures
            case "alert":
                guard let limits else { return nil }
                alert = limits
            case "resting_alert":
                guard let limits else { return nil }
                restingAlert = limits
            case "exercise_alert":
                guard let limits else { return nil }
                exerciseAlert = limits
            case "exercise_max_bpm":
                guard let maximum = part.asInt else { return nil }
                exerciseMaximum = maximum
            default: continue
            }
        }
    }
}

extension AlertLimits {
    fileprivate init?(onLink value: JSONValue) {
        guard let isEnabled = value["enabled"]?.asBool, let lower = value["lower"]?.asDouble,
            let upper = value["upper"]?.asDouble
        else { return nil }
        self.init(isEnabled: isEnabled, lower: lower, upper: upper)
    }
}

extension BloodPressureLimits {
    fileprivate init?(onLink value: JSONValue) {
        let numbers = ["systolic_lower", "systolic_upper", "diastolic_lower", "diastolic_upper"]
            .compactMap { value[$0]?.asDouble }
        guard let isEnabled = value["enabled"]?.asBool, numbers.count == 4 else { return nil }
        self.init(
            isEnabled: isEnabled, systolicLower: numbers[0], systolicUpper: numbers[1], diastolicLower: numbers[2],
            diastolicUpper: numbers[3])
    }
}
