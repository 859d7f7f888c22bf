import JSON
import Vitals

extension Sample {
    /// The fields of a row beside its one number, as JSON, what `RowHead` reads first; `nil` if there are none.
    var fields: [UInt8]? {
        var members: [(key: String, value: JSONValue?)] = []
        func add(_ more: [(key: String, value: JSONValue?)]) { members += more }
        if let changedAt {
            add([(RowHead.changed, .time(changedAt))])
        } else if let reportedAt {
            add([(RowHead.reported, .time(reportedAt))])
        }
        if let origin { add([(SampleOrigin.member, .string("\(origin.place) \(origin.name)"))]) }
        switch reading {
        case .value:
            if members.isEmpty, qualifiers.isEmpty { return nil }
            add(words)
        case .bloodPressure(let pressure):
            add([
                ("systolic", .of(pressure.systolic)), ("diastolic", .of(pressure.diastolic)),
                ("pulse", .of(pressure.pulse)),
            ])
        case .count(let increment):
            if members.isEmpty, qualifiers.isEmpty, increment.distance == nil, increment.energy == nil { return nil }
            add([("distance_m", .of(increment.distance)), ("energy_kcal", .of(increment.energy))] + words)
        case .sleep(let sleep):
            let stages = sleep.stages.map { stage in
                JSONValue.array([.string(stage.depth.rawValue), .time(stage.start), .time(stage.end)])
            }
            let untimed = sleep.untimed.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { (key: $0.key.rawValue, value: JSONValue.of($0.value)) }
            add([("stages", .array(stages)), ("minutes", untimed.isEmpty ? nil : .record(untimed))])
        case .sport(let sport):
            add([
                ("activity", .string(sport.activity)), ("distance_m", .of(sport.distance)),
                ("energy_kcal", .of(sport.energy)), ("steps", .of(sport.steps)),
                ("heart_rate_min", .of(sport.minimumHeartRate)), ("heart_rate_avg", .of(sport.averageHeartRate)),
                ("heart_rate_max", .of(sport.maximumHeartRate)),
            ])
        }
        return JSONValue.record(members).bytes
    }

    private var words: [(key: String, value: JSONValue?)] {
        qualifiers.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, .string($0.value)) }
    }
}

/// What stands before the reading in the fields of a row. Most rows have none of it, and the stages of a sleep are not parsed for it.
struct RowHead {
    /// The member that has the time at which the source changed the record.
    static let changed = "changed"
    /// The member that has the time at which the source reported it.
    static let reported = "reported"
    private static let beginnings = [changed, reported, SampleOrigin.member].map { Array("{\"\($0)\":".utf8) }

    /// When the source changed the record.
    var changedAt: Timestamp?
    /// When the source reported it; `nil` where it says when it changed it.
    var reportedAt: Timestamp?
    /// Which source that is.
    var origin: SampleOrigin?

    /// - Throws: `StoreError` if `Sample.fields` has not written the row.
    init(fields: [UInt8]?, isBeside: Bool) throws {
        guard let fields, Self.beginnings.contains(where: { fields.starts(with: $0) }) else { return }
        var reader = JSONReader(fields)
        do {
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case Self.changed: changedAt = Timestamp(milliseconds: try reader.int64())
                case Self.reported: reportedAt = Timestamp(milliseconds: try reader.int64())
                case SampleOrigin.member: origin = try SampleOrigin(kept: try reader.string(), isBeside: isBeside)
                default: return
                }
            }
        } catch { throw JSONValue.isDamaged }
    }
}

extension SampleOrigin {
    /// The member of a row's fields that has the source: its place and its name.
    static let member = "origin"

    fileprivate init(kept text: String, isBeside: Bool) throws {
        guard let space = text.firstIndex(of: " "), let place = Int(text[..<space]) else { throw JSONValue.isDamaged }
        self.init(place: place, name: String(text[text.index(after: space)...]))
        self.isBeside = isBeside
    }
}

extension Metric {
    /// The words of a row. A row of a program that knew none has none.
    func qualifiers(fields: [UInt8]?) throws -> [Qualifier: String] {
        guard let fields, !qualifiers.isEmpty else { return [:] }
        let json = try JSONValue.kept(fields)
        return Dictionary(
            uniqueKeysWithValues: qualifiers.compactMap { description in
                json[description.qualifier.rawValue]?.asString.map { (description.qualifier, $0) }
            })
    }
}

extension Reading {
    /// The reading of a row.
    /// - Throws: `StoreError` if `fields` has not written the row.
    init(metric: Metric, value: Double, fields: [UInt8]?) throws {
        switch metric.shape {
        case .value: self = .value(value)
        case .pressure:
            let json = try JSONValue.kept(fields)
            self = .bloodPressure(
                BloodPressure(
                    systolic: try json.number("systolic"), diastolic: try json.number("diastolic"),
                    pulse: json["pulse"]?.asDouble))
        case .count:
            let json: JSONValue = fields == nil ? [:] : try .kept(fields)
            guard
                let increment = Increment(
                    amount: value, distance: json["distance_m"]?.asDouble, energy: json["energy_kcal"]?.asDouble)
            else { throw JSONValue.isDamaged }
            self = .count(increment)
        case .sleep:
            let json = try JSONValue.kept(fields)
            let stages = try json.list("stages").map { stage in
                guard let depth = stage[0]?.asString.flatMap(Sleep.Stage.Depth.init(rawValue:)),
                    let start = stage[1]?.asInt64, let end = stage[2]?.asInt64
                else { throw JSONValue.isDamaged }
                return Sleep.Stage(depth, from: Timestamp(milliseconds: start), to: Timestamp(milliseconds: end))
            }
            self = .sleep(Sleep(stages: stages, untimed: Sleep.untimed(in: json["minutes"])))
        case .session:
            let json = try JSONValue.kept(fields)
            self = .sport(
                Sport(
                    activity: try json.text("activity"), distance: json["distance_m"]?.asDouble,
                    energy: json["energy_kcal"]?.asDouble, steps: json["steps"]?.asInt,
                    minimumHeartRate: json["heart_rate_min"]?.asDouble,
                    averageHeartRate: json["heart_rate_avg"]?.asDouble,
                    maximumHeartRate: json["heart_rate_max"]?.asDouble))
        }
    }
}

extension Sleep {
    /// The minutes without times of a row. Those of a depth of a newer program are skipped.
    fileprivate static func untimed(in json: JSONValue?) -> [Stage.Depth: Int] {
        var result: [Stage.Depth: Int] = [:]
        for member in json?.asObject ?? [] {
            if let depth = Stage.Depth(rawValue: member.key) { result[depth] = member.value.asInt }
        }
        return result
    }
}
