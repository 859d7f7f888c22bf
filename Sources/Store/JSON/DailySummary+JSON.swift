import JSON
import Vitals

extension DailySummary {
    /// The summary without its metric and day, which are the row's key.
    var json: JSONValue {
        .record(
            [
                ("count", .of(count)), ("manual_count", .of(manualCount)), ("average", .of(average)),
                ("zones", zones?.json),
            ] + details.members)
    }

    init(json: JSONValue, metric: Metric, day: LocalDay) throws {
        self.init(
            metric: metric, day: day, count: try json.integer("count"), manualCount: try json.integer("manual_count"),
            average: json["average"]?.asDouble, details: try Details(json: json, metric: metric),
            zones: json["zones"].flatMap { HeartRateZones(json: $0) })
    }
}

extension HeartRateZones {
    fileprivate var json: JSONValue { .array(milliseconds.map { .number(Double($0)) }) }

    fileprivate init?(json: JSONValue) { self.init(milliseconds: (json.asArray ?? []).compactMap(\.asInt64)) }
}

extension DailySummary.Workout {
    fileprivate var json: JSONValue {
        .record([
            ("id", .of(id)), ("start", .time(start)), ("end", .time(end)), ("activity", .string(activity)),
            ("zones", zones?.json),
        ])
    }

    fileprivate init(json: JSONValue) throws {
        self.init(
            id: try json.id("id"), start: try json.time("start"), end: try json.time("end"),
            activity: try json.text("activity"), zones: json["zones"].flatMap { HeartRateZones(json: $0) })
    }
}

extension DailySummary.Details {
    fileprivate var members: [(key: String, value: JSONValue?)] {
        switch self {
        case .values(let extremes):
            [
                ("maximum", extremes.maximum?.json), ("minimum", extremes.minimum?.json),
                ("resting", .array(extremes.resting.map(\.json))),
            ]
        case .bloodPressure(let extremes):
            [
                ("maximum_systolic", extremes.maximumSystolic?.json),
                ("minimum_systolic", extremes.minimumSystolic?.json),
                ("maximum_diastolic", extremes.maximumDiastolic?.json),
                ("minimum_diastolic", extremes.minimumDiastolic?.json),
                ("average_systolic", .of(extremes.average?.systolic)),
                ("average_diastolic", .of(extremes.average?.diastolic)),
                ("average_pulse", .of(extremes.average?.pulse)),
            ]
        case .count(let total, let distance, let energy):
            [("total", .of(total)), ("distance_m", .of(distance)), ("energy_kcal", .of(energy))]
        case .sleep(let totals):
            [
                ("total", .of(totals.asleep)), ("deep_min", .of(totals.deep)), ("light_min", .of(totals.light)),
                ("rem_min", .of(totals.rem)), ("awake_min", .of(totals.awake)), ("asleep_min", .of(totals.unstaged)),
                ("in_bed_min", .of(totals.inBed)), ("start", .of(totals.start)), ("end", .of(totals.end)),
            ]
        case .sport(let totals):
            [
                ("total", .of(totals.minutes)), ("sessions", .of(totals.sessions)),
                ("distance_m", .of(totals.distance)), ("energy_kcal", .of(totals.energy)),
                ("workouts", .array(totals.workouts.map(\.json))),
            ]
        }
    }

    fileprivate init(json: JSONValue, metric: Metric) throws {
        func sample(_ key: String) throws -> StoredSample? {
            try json[key].map { try StoredSample(json: $0, metric: metric) }
        }
        switch metric.shape {
        case .value:
            self = .values(
                .init(
                    maximum: try sample("maximum"), minimum: try sample("minimum"),
                    resting: try json.list("resting").map { try StoredSample(json: $0, metric: metric) }))
        case .pressure:
            let average = json["average_systolic"]?.asDouble.flatMap { systolic in
                json["average_diastolic"]?.asDouble.map { diastolic in
                    BloodPressure(
                        systolic: systolic, diastolic: diastolic, pulse: json["average_pulse"]?.asDouble)
                }
            }
            self = .bloodPressure(
                .init(
                    maximumSystolic: try sample("maximum_systolic"), minimumSystolic: try sample("minimum_systolic"),
                    maximumDiastolic: try sample("maximum_diastolic"),
                    minimumDiastolic: try sample("minimum_diastolic"), average: average))
        case .count:
            self = .count(
                total: try json.number("total"), distance: json["distance_m"]?.asDouble,
                energy: json["energy_kcal"]?.asDouble)
        case .sleep:
            self = .sleep(
                .init(
                    asleep: try json.integer("total"), deep: try json.integer("deep_min"),
                    light: try json.integer("light_min"), rem: try json.integer("rem_min"),
                    awake: try json.integer("awake_min"), unstaged: json["asleep_min"]?.asInt ?? 0,
                    inBed: json["in_bed_min"]?.asInt ?? 0, start: json.optionalTime("start"),
                    end: json.optionalTime("end")))
        case .session:
            self = .sport(
                .init(
                    minutes: try json.integer("total"), sessions: try json.integer("sessions"),
                    distance: json["distance_m"]?.asDouble, energy: json["energy_kcal"]?.asDouble,
                    workouts: try (json["workouts"]?.asArray ?? []).map { try DailySummary.Workout(json: $0) }))
        }
    }
}

extension StoredSample {
    /// The whole sample, for a daily summary, which outlives the samples.
    var json: JSONValue {
        .record([
            ("metric", .string(sample.metric.rawValue)), ("start", .time(sample.start)), ("end", .time(sample.end)),
            ("kind", .string(sample.kind.rawValue)),
            ("user_initiated", sample.isUserInitiated ? .bool(true) : nil),
            ("exercise", sample.isExercise.map { .bool($0) }), ("user", .of(sample.user)), ("value", .of(sample.value)),
            ("fields", sample.fields.map { .string(String(decoding: $0, as: UTF8.self)) }),
            ("id", .of(id)), ("rev", .of(revision)), ("device_rev", .of(sample.revision)),
            ("received_at", .time(receivedAt)),
        ])
    }

    /// - Parameter metric: the day's metric. An item's own may differ.
    init(json: JSONValue, metric: Metric) throws {
        let metric = json["metric"]?.asString.flatMap(Metric.init(rawValue:)) ?? metric
        let fields = json["fields"]?.asString.map { Array($0.utf8) }
        let sample = Sample(
            metric: metric, start: try json.time("start"), end: try json.time("end"),
            kind: try json.word("kind", Sample.Kind.self), isUserInitiated: json["user_initiated"]?.asBool ?? false,
            isExercise: json["exercise"]?.asBool, revision: json["device_rev"]?.asInt, user: json["user"]?.asInt,
            qualifiers: try metric.qualifiers(fields: fields),
            reading: try Reading(metric: metric, value: json["value"]?.asDouble ?? 0, fields: fields))
        self.init(
            sample: sample, id: try json.id("id"), revision: try json.integer("rev"),
            receivedAt: try json.time("received_at"))
    }
}
