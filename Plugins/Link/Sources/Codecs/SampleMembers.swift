import JSON
import Vitals

/// The members of a sample on the wire, before the check that they make a sample.
struct SampleMembers {
    enum Key: String, CaseIterable {
        case metric, start, end, kind, user_initiated, exercise, rev, user, value, systolic, diastolic, pulse
        case distance_m, energy_kcal, stages, minutes, activity, steps, heart_rate_min, heart_rate_avg, heart_rate_max
    }
    /// A member by its name: of every sample, or a qualifier, which only some metrics have. `activity` is both.
    private enum Name: Sendable {
        case key(Key)
        case qualifier(Qualifier)
        static let words = JSONWords(
            Key.allCases.map { (text: $0.rawValue, word: Name.key($0)) }
                + Qualifier.allCases.filter { Key(rawValue: $0.rawValue) == nil }
                .map { (text: $0.rawValue, word: .qualifier($0)) })
    }
    private static let metrics = JSONWords(of: Metric.self)
    private static let kinds = JSONWords(of: Sample.Kind.self)

    var metric: Metric?
    var start: Int64?
    var end: Int64?
    /// The kind, `nil` if unknown.
    var kind: Sample.Kind? = .normal
    var isUserInitiated = false
    var isExercise: Bool?
    var revision: Int?
    var user: Int?
    var qualifiers: [Qualifier: String] = [:]
    var value: Double?
    var systolic: Double?
    var diastolic: Double?
    var pulse: Double?
    var distance: Double?
    var energy: Double?
    var stages: [Sleep.Stage]?
    var minutes: [Sleep.Stage.Depth: Int]?
    var activity: String?
    var steps: Int?
    var minimumHeartRate: Double?
    var averageHeartRate: Double?
    var maximumHeartRate: Double?

    /// Reads an object in one pass, without allocating a `String` for its keys and words. `null` counts as absent.
    init(from reader: inout JSONReader) throws(JSONError) {
        try reader.beginObject()
        while let name = try reader.nextKey(in: Name.words) {
            if try reader.takeNull() { continue }
            switch name {
            case .qualifier(let qualifier): qualifiers[qualifier] = try reader.string()
            case .key(let key): try read(key, from: &reader)
            }
        }
    }

    private mutating func read(_ key: Key, from reader: inout JSONReader) throws(JSONError) {
        switch key {
        case .metric: metric = try reader.word(in: Self.metrics)
        case .start: start = try reader.int64()
        case .end: end = try reader.int64()
        case .kind: kind = try reader.word(in: Self.kinds)
        case .user_initiated: isUserInitiated = try reader.bool()
        case .exercise: isExercise = try reader.bool()
        case .rev: revision = try reader.int()
        case .user: user = try reader.int()
        case .value: value = try reader.double()
        case .systolic: systolic = try reader.double()
        case .diastolic: diastolic = try reader.double()
        case .pulse: pulse = try reader.double()
        case .distance_m: distance = try reader.double()
        case .energy_kcal: energy = try reader.double()
        case .stages: stages = try Self.stages(&reader)
        case .minutes: minutes = try Self.minutes(&reader)
        case .activity: activity = try reader.string()
        case .steps: steps = try reader.int()
        case .heart_rate_min: minimumHeartRate = try reader.double()
        case .heart_rate_avg: averageHeartRate = try reader.double()
        case .heart_rate_max: maximumHeartRate = try reader.double()
        }
    }

    private enum StageKey: String, CaseIterable {
        case stage, start, end
        static let words = JSONWords(of: StageKey.self)
    }
    private static let depths = JSONWords(of: Sleep.Stage.Depth.self)

    /// Reads whole minutes by depth. `null` is not known.
    private static func minutes(_ reader: inout JSONReader) throws(JSONError) -> [Sleep.Stage.Depth: Int] {
        var minutes: [Sleep.Stage.Depth: Int] = [:]
        try reader.beginObject()
        while let depth = try reader.nextKey(in: depths) {
            if try reader.takeNull() { continue }
            minutes[depth] = try reader.int()
        }
        return minutes
    }

    /// Reads the stages, and keeps one more than a sleep may have: enough for the sample to be refused. A line may have more.
    private static func stages(_ reader: inout JSONReader) throws(JSONError) -> [Sleep.Stage] {
        var stages: [Sleep.Stage] = []
        try reader.beginArray()
        while try reader.nextElement() {
            var depth: Sleep.Stage.Depth?
            var start: Int64?
            var end: Int64?
            let offset = reader.index
            try reader.beginObject()
            while let key = try reader.nextKey(in: StageKey.words) {
                switch key {
                case .stage: depth = try reader.word(in: depths)
                case .start: start = try reader.int64()
                case .end: end = try reader.int64()
                }
            }
            guard let depth, let start, let end else { throw JSONError(.wrongValue, at: offset) }
            guard stages.count <= SampleLimits.stages else { continue }
            stages.append(.init(depth, from: Timestamp(milliseconds: start), to: Timestamp(milliseconds: end)))
        }
        return stages
    }
}
