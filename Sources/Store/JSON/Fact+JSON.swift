import Foundation
import JSON
import Vitals

extension AlertEvent {
    var json: JSONValue {
        .record([
            ("id", .of(id)), ("raised_id", .of(raisedID)), ("rule", .string(rule.name)),
            ("edge", .string(edge.rawValue)), ("value", .of(value)), ("limit", .of(limit)),
            ("origin", .string(origin.rawValue)), ("measured_at", .time(measuredAt)), ("raised_at", .time(raisedAt)),
            ("sample_id", .of(sampleID)), ("user", .of(user)),
        ])
    }

    init(json: JSONValue) throws {
        guard let rule = AlertRule(name: try json.text("rule")) else { throw JSONValue.isDamaged }
        self.init(
            id: try json.id("id"), raisedID: json.optionalID("raised_id"), rule: rule,
            edge: try json.word("edge", Edge.self), value: json["value"]?.asDouble, limit: json["limit"]?.asDouble,
            origin: try json.word("origin", Origin.self), measuredAt: try json.time("measured_at"),
            raisedAt: try json.time("raised_at"), sampleID: json.optionalID("sample_id"), user: json["user"]?.asInt)
    }
}

extension Gap {
    var json: JSONValue {
        .record([
            ("metric", .of(metric?.rawValue)), ("from", .of(from)), ("to", .of(to)), ("count", .of(count)),
            ("reason", .string(reason.rawValue)), ("at", .time(at)),
            (
                "sequences",
                .array(
                    sequences.map { range in
                        .array([.number(Double(range.lowerBound)), .number(Double(range.upperBound))])
                    })
            ),
            ("refused", refused.isEmpty ? nil : .record(refused.map { ($0.key.rawValue, .number(Double($0.value))) })),
        ])
    }

    init(json: JSONValue) throws {
        let sequences = try json.list("sequences").map { range in
            guard let lower = range[0]?.asInt64, let upper = range[1]?.asInt64, lower <= upper else {
                throw JSONValue.isDamaged
            }
            return lower...upper
        }
        self.init(
            metric: json["metric"]?.asString.flatMap(Metric.init(rawValue:)), from: json.optionalTime("from"),
            to: json.optionalTime("to"), count: json["count"]?.asInt, reason: try json.word("reason", Reason.self),
            at: try json.time("at"), sequences: sequences,
            refused: Dictionary(
                uniqueKeysWithValues: RefusalReason.allCases.compactMap { reason in
                    json["refused"]?[reason.rawValue]?.asInt.map { (reason, $0) }
                }))
    }
}

extension Question {
    var json: JSONValue {
        .record([
            ("id", .of(id)), ("metric", .string(metric.rawValue)), ("measured_at", .time(measuredAt)),
            ("candidates", .array(candidates.map { .number(Double($0)) })),
        ])
    }

    init(json: JSONValue) throws {
        guard let metric = Metric(rawValue: try json.text("metric")) else { throw JSONValue.isDamaged }
        self.init(
            id: try json.id("id"), metric: metric, measuredAt: try json.time("measured_at"),
            candidates: try json.list("candidates").compactMap(\.asInt))
    }
}

extension CommandEnvelope {
    var json: JSONValue {
        .record([
            ("id", .of(id)), ("device", .of(device?.text)), ("command", .string(command)),
            ("expires_at", .of(expiresAt)), ("response_topic", .of(responseTopic)),
            ("correlation", correlation.map { .string(Data($0).base64EncodedString()) }),
            ("has_caller", caller == nil ? nil : .bool(true)),
        ])
    }

    init(json: JSONValue) throws {
        self.init(
            id: json["id"]?.asString, device: json["device"]?.asString.flatMap { DeviceID($0) },
            command: try json.text("command"), expiresAt: json.optionalTime("expires_at"),
            responseTopic: json["response_topic"]?.asString, correlation: try Self.correlation(in: json))
        // It is gone: it was in an earlier run.
        if json["has_caller"]?.asBool == true { caller = CommandCaller { _, _ in } }
    }

    /// The correlation data as base64, or as a number for each byte, as earlier versions wrote it.
    private static func correlation(in json: JSONValue) throws -> [UInt8]? {
        guard let value = json["correlation"] else { return nil }
        if let numbers = value.asArray { return numbers.map { UInt8(truncatingIfNeeded: $0.asInt ?? 0) } }
        guard let data = value.asString.flatMap({ Data(base64Encoded: $0) }) else { throw JSONValue.isDamaged }
        return [UInt8](data)
    }
}
