import JSON
import Vitals

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
