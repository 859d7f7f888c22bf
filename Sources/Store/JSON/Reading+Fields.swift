import JSON
import Vitals

extension Sample {
    /// The fields of a row beside its one number, as JSON, what `RowHead` reads first; `nil` if there are none.
    var fields: [UInt8]? {
        var members: [(key: String, value: JSONValue?)] = []
        func add(_ more: [(key: String, value: JSONValue?)]) { members += more }
        if let utcOffset { add([(RowHead.offset, .of(Int(utcOffset)))]) }
        if let summedMinutes { add([(RowHead.summed, .of(Int(summedMinutes)))]) }
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
            if !sport.laps.isEmpty { add([("laps", .array(sport.laps.map { $0.kept }))]) }
        }
        return JSONValue.record(members).bytes
    }

    private var words: [(key: String, value: JSONValue?)] {
        qualifiers.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, .string($0.value)) }
    }
}

/// What stands before the reading in the fields of a row. Most rows have none of it, and the stages of a sleep are not parsed for it.
struct RowHead {
    /// The member with the offset from UTC in minutes. It is the first one, by which `SampleTable.samplesWithOffset` finds it.
    static let offset = "offset"
    /// The member with the minutes that an app has summed up.
    static let summed = "summed"
    /// The member that has the time at which the source changed the record.
    static let changed = "changed"
    /// The member that has the time at which the source reported it.
    static let reported = "reported"
    private static let beginnings = [offset, summed, changed, reported, SampleOrigin.member]
        .map { Array("{\"\($0)\":".utf8) }

    /// `Sample.utcOffset`
    var utcOffset: Int16?
    /// `Sample.summedMinutes`
    var summedMinutes: Int16?
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
                case Self.offset: utcOffset = Int16(truncatingIfNeeded: try reader.int64())
                case Self.summed: summedMinutes = Int16(truncatingIfNeeded: try reader.int64())
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
            var sport = Sport(
                activity: try json.text("activity"), distance: json["distance_m"]?.asDouble,
                energy: json["energy_kcal"]?.asDouble, steps: json["steps"]?.asInt,
                minimumHeartRate: json["heart_rate_min"]?.asDouble,
                averageHeartRate: json["heart_rate_avg"]?.asDouble,
                maximumHeartRate: json["heart_rate_max"]?.asDouble)
            if json["laps"] != nil { sport.laps = try json.list("laps").map { try Sport.Lap(kept: $0) } }
            self = .sport(sport)
        }
    }
}

extension Sport.Lap {
    /// A lap of a row: its times, and its numbers or `null`.
    fileprivate var kept: JSONValue {
        let numbers = [distance, energy, averageHeartRate, maximumHeartRate].map {
            $0.map { JSONValue.number($0) } ?? .null
        }
        return .array([.time(start), .time(end)] + numbers)
    }

    fileprivate init(kept json: JSONValue) throws {
        guard let start = json[0]?.asInt64, let end = json[1]?.asInt64 else { throw JSONValue.isDamaged }
        self.init(
            from: Timestamp(milliseconds: start), to: Timestamp(milliseconds: end), distance: json[2]?.asDouble,
            energy: json[3]?.asDouble, averageHeartRate: json[4]?.asDouble, maximumHeartRate: json[5]?.asDouble)
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
