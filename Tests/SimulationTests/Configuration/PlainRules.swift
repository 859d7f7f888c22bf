import JSON

/// The contract's rules for a configuration, checked on the payload of `D/config` in the simplest way.
enum PlainRules {
    static let metrics = [
        "heart_rate", "blood_pressure", "blood_oxygen", "stress", "temperature", "heart_rate_variability",
        "respiratory_rate", "skin_temperature", "blood_glucose",
    ]

    /// The values of a published configuration by their paths.
    static func settings(_ config: JSONValue) -> [String: JSONValue] {
        var result: [String: JSONValue] = [:]
        for metric in metrics {
            collect(config[metric] ?? .null, at: metric, &result)
        }
        return result
    }

    /// The values of a patch by path; the last of duplicate keys counts.
    static func changes(_ patch: JSONValue) -> [String: JSONValue] {
        var last: [String: JSONValue] = [:]
        for member in patch.asObject ?? [] { last[member.key] = member.value }
        var result: [String: JSONValue] = [:]
        for (key, value) in last where !["id", "if_version", "adopt"].contains(key) { collect(value, at: key, &result) }
        return result
    }

    private static func collect(_ value: JSONValue, at path: String, _ result: inout [String: JSONValue]) {
        if let members = value.asObject {
            for member in members { collect(member.value, at: "\(path).\(member.key)", &result) }
        } else if value != .null {
            result[path] = value
        }
    }

    /// A value of a patch in its published form: times without seconds, a final midnight as 24:00.
    static func published(_ value: JSONValue, at path: String) -> JSONValue {
        guard let text = value.asString else { return value }
        let time = String(text.prefix(5))
        return .string(path.hasSuffix(".end") && time == "00:00" ? "24:00" : time)
    }

    /// What is wrong with a whole configuration.
    static func issues(_ settings: [String: JSONValue]) -> [String] {
        settings.compactMap { path, value in isRight(value, at: path, settings) ? nil : "\(path) is \(value)" }.sorted()
    }

    private static func isRight(_ value: JSONValue, at path: String, _ settings: [String: JSONValue]) -> Bool {
        let parts = path.split(separator: ".").map(String.init)
        switch parts[parts.count - 1] {
        case "enabled": return value.asBool != nil
        case "start":
            guard let start = minutes(value), let end = minutes(settings["\(parts[0]).schedule.end"]) else {
                return false
            }
            return start < end && end <= 1440
        case "end": return minutes(value) != nil
        case "interval_min":
            guard let interval = value.asInt else { return false }
            return (5...1440).contains(interval) && interval % 5 == 0
        case "exercise_max_bpm": return value.asInt.map { (100...220).contains($0) } ?? false
        case let field:
            guard let number = value.asDouble else { return false }
            let range: ClosedRange<Double> =
                switch parts[0] {
                case "heart_rate", "blood_pressure": 20...300
                case "temperature": 25...45
                case "respiratory_rate": 3...100
                case "blood_glucose": 10...1000
                default: 0...100
                }
            let hasTenths = ["temperature", "respiratory_rate"].contains(parts[0])
            let isStep = hasTenths ? "\(number)".count <= 4 : number == number.rounded()
            guard range.contains(number), isStep else { return false }
            guard field.hasSuffix("lower") else { return true }
            let upper = (parts.dropLast() + [field.replacing("lower", with: "upper")]).joined(separator: ".")
            return settings[upper]?.asDouble.map { number < $0 } ?? false
        }
    }

    private static func minutes(_ value: JSONValue?) -> Int? {
        guard let parts = value?.asString?.split(separator: ":"), parts.count == 2, let hour = Int(parts[0]),
            let minute = Int(parts[1]), minute < 60
        else { return nil }
        return hour * 60 + minute
    }
}
