import JSON
import Vitals

/// Payloads for `config/set` as from a careless program: real paths with good, bad and borderline values, wrong
/// nesting, unknown keys, duplicate metrics.
struct RandomPatch {
    var random: SplitMix64

    private static let metrics = PlainRules.metrics
    private static let sections = ["schedule", "alert", "resting_alert", "exercise_alert"]
    private static let fields = [
        "enabled", "start", "end", "interval_min", "lower", "upper", "systolic_lower", "systolic_upper",
        "diastolic_lower", "diastolic_upper",
    ]
    private static let strange: [JSONValue] = [
        nil, true, "on", "", "24:01", "8:00", "25:00", "08:60", "10", [], [5], [:], ["upper": 90], -1, 1e308, -1e-9,
        9_007_199_254_740_993,
    ]
    private static let borders: [Double] = [
        0, 4, 5, 7, 10, 19, 20, 24.9, 25, 36.5, 36.55, 45, 45.1, 60, 90, 99, 100, 101, 139.5, 140, 220, 221, 300, 301,
        1440, 1445,
    ]
    private static let times = ["00:00", "00:01", "06:00", "08:00:00", "12:34", "20:00", "23:59", "24:00"]

    /// A payload with this command id.
    mutating func next(id: String) -> JSONValue {
        var members: [JSONValue.Member] = [.init("id", .string(id))]
        for _ in 0..<(happens(0.3) ? 2 : 1) { members.append(change()) }
        if happens(0.05) { members.append(.init("if_version", .number(Double(Int.random(in: 0...9, using: &random))))) }
        if happens(0.03) { members.append(.init("pulse", [:])) }
        return .object(members)
    }

    private mutating func happens(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }

    private mutating func pick<Element>(_ list: [Element]) -> Element {
        list[Int.random(in: list.indices, using: &random)]
    }

    /// One change, as an object with one path.
    private mutating func change() -> JSONValue.Member {
        let metric = pick(Self.metrics)
        // The depth is too small, too great, or right.
        if happens(0.03) { return .init(metric, pick(Self.strange)) }
        if metric == "heart_rate", happens(0.15) {
            return .init(metric, ["exercise_max_bpm": happens(0.2) ? pick(Self.strange) : .number(pick(Self.borders))])
        }
        let section = section(of: metric)
        if happens(0.03) { return .init(metric, .object([.init(section, pick(Self.strange))])) }
        var fields: [JSONValue.Member] = []
        for _ in 0..<(happens(0.4) ? 2 : 1) {
            let field = field(of: section, metric)
            if !fields.contains(where: { $0.key == field }) { fields.append(.init(field, value(of: field))) }
        }
        return .init(metric, .object([.init(section, .object(fields))]))
    }

    private mutating func section(of metric: String) -> String {
        if happens(0.04) { return pick(Self.sections) }
        if happens(0.5) { return "schedule" }
        return metric == "heart_rate" ? pick(["resting_alert", "exercise_alert"]) : "alert"
    }

    private mutating func field(of section: String, _ metric: String) -> String {
        if happens(0.03) { return pick(Self.fields) }
        if section == "schedule" { return pick(["enabled", "start", "end", "interval_min"]) }
        return metric == "blood_pressure"
            ? pick(["enabled"] + Self.fields.suffix(4)) : pick(["enabled", "lower", "upper"])
    }

    private mutating func value(of field: String) -> JSONValue {
        if happens(0.04) { return pick(Self.strange) }
        switch field {
        case "enabled": return .bool(Bool.random(using: &random))
        case "start", "end": return .string(pick(Self.times))
        case "interval_min": return .number(Double(Int.random(in: 0...290, using: &random) * (happens(0.1) ? 4 : 5)))
        default:
            if happens(0.15) { return .number(pick(Self.borders)) }
            return .number(Double(Int.random(in: 26...44, using: &random)) * (happens(0.6) ? 3 : 1))
        }
    }
}
