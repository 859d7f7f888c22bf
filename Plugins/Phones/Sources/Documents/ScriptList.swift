import GatewayKit
import Vitals

/// The lists of a script's document, each with its kind of entries.
enum ScriptList: String, CaseIterable, Sendable {
    case samples, sleeps, workouts, alerts

    private static let sampleMembers = Set(Qualifier.allCases.map(\.rawValue)).union([
        "metric", "value", "systolic", "diastolic", "pulse", "unit", "time", "start", "end", "source",
    ])
    private static let sleepMembers: Set<String> = ["start", "end", "stages", "minutes", "source"]
    private static let stageMembers: Set<String> = ["stage", "start", "end"]
    private static let workoutMembers: Set<String> = [
        "activity", "start", "end", "distance", "distance_unit", "energy", "energy_unit", "steps", "heart_rate_min",
        "heart_rate_avg", "heart_rate_max", "source",
    ]
    private static let alertMembers: Set<String> = ["rule", "edge", "value", "limit", "time", "source"]

    /// The members that an entry may have.
    var members: Set<String> {
        switch self {
        case .samples: Self.sampleMembers
        case .sleeps: Self.sleepMembers
        case .workouts: Self.workoutMembers
        case .alerts: Self.alertMembers
        }
    }

    /// What an entry says.
    func record(of entry: EntryMembers) throws(EntryProblem) -> Record {
        switch self {
        case .samples: try Self.sample(entry)
        case .sleeps: try Self.sleep(entry)
        case .workouts: try Self.workout(entry)
        case .alerts: try Self.alert(entry)
        }
    }

    // MARK: - Samples

    private static func sample(_ entry: EntryMembers) throws(EntryProblem) -> Record {
        let name = try entry.required("metric", try entry.text("metric"))
        guard let metric = Metric(rawValue: name), metric.hasHistory else {
            throw entry.problem("metric", "is none of the gateway's: \(name.quoted)")
        }
        if metric.shape == .sleep { throw entry.problem("metric", "belongs into the list sleeps") }
        if metric.shape == .session { throw entry.problem("metric", "belongs into the list workouts") }
        let (start, end) = try times(of: metric, entry)
        let qualifiers = try words(of: metric, entry)
        let pressures = ["systolic", "diastolic", "pulse"]
        let reading: Reading
        switch metric.shape {
        case .pressure:
            try entry.refuse(["value"], "must be systolic and diastolic")
            guard let systolic = try entry.quantity("systolic", unit: "unit", in: metric.unit) else {
                throw entry.problem("systolic", "is missing")
            }
            guard let diastolic = try entry.quantity("diastolic", unit: "unit", in: metric.unit) else {
                throw entry.problem("diastolic", "is missing")
            }
            reading = .bloodPressure(
                BloodPressure(systolic: systolic, diastolic: diastolic, pulse: try entry.number("pulse")))
        default:
            try entry.refuse(pressures, "belongs to blood_pressure")
            guard let value = try entry.quantity("value", unit: "unit", in: metric.unit) else {
                throw entry.problem("value", "is missing")
            }
            if metric.shape == .count {
                guard let increment = Increment(amount: value) else {
                    throw entry.problem("value", "must be a number from 0")
                }
                reading = .count(increment)
            } else {
                if metric == .bloodOxygen, value <= 1 {
                    // Nobody lives with 1 %: a share was meant, and must not be guessed.
                    throw entry.problem(
                        "value", "must be in per cent, such as 97; a share such as 0.97 has the unit \"1\"")
                }
                reading = .value(value)
            }
        }
        return .counted(Sample(metric: metric, start: start, end: end, qualifiers: qualifiers, reading: reading))
    }

    /// `time`, or `start` and `end`, which a count must have.
    private static func times(
        of metric: Metric, _ entry: EntryMembers
    ) throws(EntryProblem) -> (start: Timestamp, end: Timestamp) {
        let time = try entry.time("time")
        if metric.isInterval {
            try entry.refuse(["time"], "must be start and end: \(metric.rawValue) counts what happened between them")
            return try entry.interval()
        }
        guard entry.has("start") || entry.has("end") else {
            let moment = try entry.required("time", time)
            return (moment, moment)
        }
        try entry.refuse(["time"], "must be absent beside start and end")
        return try entry.interval()
    }

    private static func words(
        of metric: Metric, _ entry: EntryMembers
    ) throws(EntryProblem) -> [Qualifier: String] {
        var words: [Qualifier: String] = [:]
        for qualifier in Qualifier.allCases {
            guard let word = try entry.text(qualifier.rawValue) else { continue }
            let known = metric.qualifiers.first { $0.qualifier == qualifier }?.words ?? []
            guard known.contains(word) else {
                throw entry.problem(
                    qualifier.rawValue,
                    known.isEmpty
                        ? "must be absent; \(metric.rawValue) has none"
                        : "must be one of \(known.joined(separator: ", "))")
            }
            words[qualifier] = word
        }
        return words
    }

    // MARK: - Sleeps

    private static func sleep(_ entry: EntryMembers) throws(EntryProblem) -> Record {
        let (start, end) = try entry.interval()
        let untimed = try minutes(entry)
        var stages: [Sleep.Stage] = []
        // One more than a sleep may have makes it implausible.
        if let places = try entry.elements(of: "stages", limit: SampleLimits.stages + 1) {
            for (number, place) in places.enumerated() {
                stages.append(try stage(at: place, of: entry, path: "stages[\(number)]"))
            }
            guard !stages.isEmpty else { throw entry.problem("stages", "must have at least one") }
            stages.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        } else if untimed.isEmpty {
            // Only its times are known.
            stages = [Sleep.Stage(.asleep, from: start, to: end)]
        }
        let sleep = Sleep(stages: stages, untimed: untimed)
        return .sample(Sample(metric: .sleep, start: start, end: end, reading: .sleep(sleep)))
    }

    /// The minutes of each depth, of a sender that does not know when they were.
    private static func minutes(_ entry: EntryMembers) throws(EntryProblem) -> [Sleep.Stage.Depth: Int] {
        let depths = Sleep.Stage.Depth.allCases
        guard let members = try entry.object("minutes", known: Set(depths.map(\.rawValue))) else { return [:] }
        var minutes: [Sleep.Stage.Depth: Int] = [:]
        for depth in depths {
            guard let number = try members.number(depth.rawValue) else { continue }
            guard let whole = Int(exactly: number), whole >= 0 else {
                throw members.problem(depth.rawValue, "must be whole minutes from 0")
            }
            minutes[depth] = whole
        }
        guard !minutes.isEmpty else { throw entry.problem("minutes", "must have at least one") }
        return minutes
    }

    private static func stage(
        at place: Range<Int>, of entry: EntryMembers, path: String
    ) throws(EntryProblem) -> Sleep.Stage {
        let stage = try EntryMembers(at: place, of: entry.document, known: stageMembers, path: path)
        let word = try stage.required("stage", try stage.text("stage"))
        guard let depth = Sleep.Stage.Depth(rawValue: word) else {
            let known = Sleep.Stage.Depth.allCases.map(\.rawValue).joined(separator: ", ")
            throw stage.problem("stage", "must be one of \(known)")
        }
        let (start, end) = try stage.interval()
        return Sleep.Stage(depth, from: start, to: end)
    }

    // MARK: - Workouts and alerts

    private static func workout(_ entry: EntryMembers) throws(EntryProblem) -> Record {
        let (start, end) = try entry.interval()
        var sport = Sport(activity: try entry.text("activity")?.activity ?? "unknown")
        sport.distance = try entry.quantity("distance", unit: "distance_unit", in: "m")
        sport.energy = try entry.quantity("energy", unit: "energy_unit", in: "kcal")
        if let steps = try entry.number("steps") {
            guard let count = Int(exactly: steps), count >= 0 else {
                throw entry.problem("steps", "must be whole steps from 0")
            }
            sport.steps = count
        }
        sport.minimumHeartRate = try entry.number("heart_rate_min")
        sport.averageHeartRate = try entry.number("heart_rate_avg")
        sport.maximumHeartRate = try entry.number("heart_rate_max")
        return .sample(Sample(metric: .sport, start: start, end: end, reading: .sport(sport)))
    }

    private static func alert(_ entry: EntryMembers) throws(EntryProblem) -> Record {
        let name = try entry.required("rule", try entry.text("rule"))
        guard let rule = AlertRule(name: name) else {
            throw entry.problem("rule", "is none of the gateway's: \(name.quoted)")
        }
        let word = try entry.text("edge") ?? AlertEvent.Edge.raised.rawValue
        guard let edge = AlertEvent.Edge(rawValue: word) else {
            throw entry.problem("edge", "must be raised or cleared")
        }
        let (value, limit) = (try entry.number("value"), try entry.number("limit"))
        if rule.warning == nil {
            try entry.refuse(["limit"], "belongs to a warning; \(name) has its limit in the gateway's settings")
        } else {
            guard edge == .raised else {
                throw entry.problem("edge", "must be raised: a warning is a moment, and never cleared")
            }
        }
        for (name, number) in [("value", value), ("limit", limit)] {
            guard let number, let range = rule.metric.range, !range.contains(number) else { continue }
            let unit = rule.metric.unit.map { " (in \($0))" } ?? ""
            let bounds = "\(range.lowerBound.shortText) to \(range.upperBound.shortText)"
            throw entry.problem(name, "must be a number from \(bounds)\(unit)")
        }
        let time = try entry.required("time", try entry.time("time"))
        guard SampleLimits.moments.contains(time) else {
            throw entry.problem("time", "must be a time from 1970 to 2199")
        }
        return .alert(DeviceAlert(rule: rule, edge: edge, value: value, limit: limit, at: time))
    }
}
