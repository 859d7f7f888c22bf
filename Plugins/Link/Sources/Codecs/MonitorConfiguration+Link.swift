import JSON
import Vitals

extension MonitorConfiguration {
    /// Reads a metric's configuration; `nil` where a part that stands is not what it should be. Parts that do not stand
    /// are parts that the device does not have.
    init?(link value: JSONValue, of metric: Metric) {
        guard value.asObject != nil else { return nil }
        self.init()
        if let part = value.part("schedule") {
            guard let schedule = MonitorSchedule(link: part) else { return nil }
            self.schedule = schedule
        }
        switch metric {
        case .heartRate:
            if let part = value.part("resting_alert") {
                guard let limits = AlertLimits(link: part) else { return nil }
                restingAlert = limits
            }
            if let part = value.part("exercise_alert") {
                guard let limits = AlertLimits(link: part) else { return nil }
                exerciseAlert = limits
            }
            if let part = value.part("exercise_max_bpm") {
                guard let maximum = part.asInt, (1...1000).contains(maximum) else { return nil }
                exerciseMaximum = maximum
            }
        case .bloodPressure:
            if let part = value.part("alert") {
                guard let limits = BloodPressureLimits(link: part) else { return nil }
                pressureAlert = limits
            }
        default:
            if let part = value.part("alert") {
                guard let limits = AlertLimits(link: part) else { return nil }
                alert = limits
            }
        }
    }

    /// Writes the members of a metric's configuration. Parts that are `nil` are left out: they stay as they are.
    func write(to writer: inout JSONWriter, of metric: Metric) {
        if let schedule {
            writer.member("schedule") { part in
                part.member("enabled", schedule.isEnabled)
                part.member("start", schedule.start)
                part.member("end", schedule.end)
                part.member("interval_min", schedule.interval)
            }
        }
        switch metric {
        case .heartRate:
            if let restingAlert { writer.member("resting_alert") { restingAlert.write(to: &$0) } }
            if let exerciseAlert { writer.member("exercise_alert") { exerciseAlert.write(to: &$0) } }
            if let exerciseMaximum { writer.member("exercise_max_bpm", exerciseMaximum) }
        case .bloodPressure:
            if let pressureAlert { writer.member("alert") { pressureAlert.write(to: &$0) } }
        default:
            if let alert { writer.member("alert") { alert.write(to: &$0) } }
        }
    }
}

extension JSONValue {
    /// The value of a key that stands and is not `null`.
    fileprivate func part(_ key: String) -> JSONValue? {
        guard let value = self[key], !value.isNull else { return nil }
        return value
    }
}

extension MonitorSchedule {
    fileprivate init?(link value: JSONValue) {
        let day = 0...1440
        guard let isEnabled = value["enabled"]?.asBool, let start = value["start"]?.asInt, day.contains(start),
            let end = value["end"]?.asInt, day.contains(end), let interval = value["interval_min"]?.asInt,
            day.contains(interval)
        else { return nil }
        self.init(isEnabled: isEnabled, start: start, end: end, interval: interval)
    }
}

extension AlertLimits {
    fileprivate init?(link value: JSONValue) {
        guard let isEnabled = value["enabled"]?.asBool, let lower = value["lower"]?.asDouble,
            let upper = value["upper"]?.asDouble
        else { return nil }
        self.init(isEnabled: isEnabled, lower: lower, upper: upper)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("enabled", isEnabled)
        writer.member("lower", lower)
        writer.member("upper", upper)
    }
}

extension BloodPressureLimits {
    fileprivate init?(link value: JSONValue) {
        guard let isEnabled = value["enabled"]?.asBool, let systolicLower = value["systolic_lower"]?.asDouble,
            let systolicUpper = value["systolic_upper"]?.asDouble,
            let diastolicLower = value["diastolic_lower"]?.asDouble,
            let diastolicUpper = value["diastolic_upper"]?.asDouble
        else { return nil }
        self.init(
            isEnabled: isEnabled, systolicLower: systolicLower, systolicUpper: systolicUpper,
            diastolicLower: diastolicLower, diastolicUpper: diastolicUpper)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("enabled", isEnabled)
        writer.member("systolic_lower", systolicLower)
        writer.member("systolic_upper", systolicUpper)
        writer.member("diastolic_lower", diastolicLower)
        writer.member("diastolic_upper", diastolicUpper)
    }
}
