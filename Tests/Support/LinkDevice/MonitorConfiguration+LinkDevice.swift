import JSON
import Vitals

extension JSONWriter {
    /// Writes the present members of a configuration.
    mutating func linkConfiguration(_ configuration: MonitorConfiguration) {
        if let schedule = configuration.schedule {
            member("schedule") { part in
                part.member("enabled", schedule.isEnabled)
                part.member("start", schedule.start)
                part.member("end", schedule.end)
                part.member("interval_min", schedule.interval)
            }
        }
        let limits = configuration.limits
        if let limits = limits[.value] { member("alert") { $0.linkLimits(limits) } }
        if let limits = limits[.resting] { member("resting_alert") { $0.linkLimits(limits) } }
        if let limits = limits[.exercise] { member("exercise_alert") { $0.linkLimits(limits) } }
        if let maximum = configuration.exerciseMaximum { member("exercise_max_bpm", maximum) }
        if let systolic = limits[.systolic], let diastolic = limits[.diastolic] {
            member("alert") { part in
                part.member("enabled", systolic.isEnabled)
                part.member("systolic_lower", systolic.lower)
                part.member("systolic_upper", systolic.upper)
                part.member("diastolic_lower", diastolic.lower)
                part.member("diastolic_upper", diastolic.upper)
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
    /// Reads a metric's configuration from `monitor/write`; `nil` if a part is incomplete or not valid for the metric.
    init?(onLink value: JSONValue, of metric: Metric) {
        var schedule: MonitorSchedule?
        var limits: [AlertRule.Subject: AlertLimits] = [:]
        var maximum: Int?
        for member in value.asObject ?? [] {
            let part = member.value
            switch member.key {
            case "schedule":
                guard let isEnabled = part["enabled"]?.asBool, let start = part["start"]?.asInt,
                    let end = part["end"]?.asInt, let interval = part["interval_min"]?.asInt
                else { return nil }
                schedule = MonitorSchedule(isEnabled: isEnabled, start: start, end: end, interval: interval)
            case "alert" where metric.alertSubjects.contains(.systolic):
                limits[.systolic] = AlertLimits(onLink: part, prefix: "systolic_")
                limits[.diastolic] = AlertLimits(onLink: part, prefix: "diastolic_")
                guard limits.count == 2 else { return nil }
            case "alert":
                guard let read = AlertLimits(onLink: part) else { return nil }
                limits[.value] = read
            case "resting_alert", "exercise_alert":
                guard let read = AlertLimits(onLink: part) else { return nil }
                limits[member.key == "resting_alert" ? .resting : .exercise] = read
            case "exercise_max_bpm":
                guard let number = part.asInt else { return nil }
                maximum = number
            default: continue
            }
        }
        do throws(Violations) {
            try self.init(of: metric, schedule: schedule, limits: limits, exerciseMaximum: maximum)
        } catch { return nil }
    }
}

extension AlertLimits {
    fileprivate init?(onLink value: JSONValue, prefix: String = "") {
        guard let isEnabled = value["enabled"]?.asBool, let lower = value["\(prefix)lower"]?.asDouble,
            let upper = value["\(prefix)upper"]?.asDouble
        else { return nil }
        self.init(isEnabled: isEnabled, lower: lower, upper: upper)
    }
}
