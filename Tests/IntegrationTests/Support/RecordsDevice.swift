import Foundation
import JSON

/// A device whose history is what the test says.
struct RecordsDevice {
    let id: String
    private let bench: Bench
    private let device: AnswersDevice

    /// - Parameters:
    ///   - capabilities: its capabilities, as JSON.
    ///   - configuration: its monitoring of the heart rate, as JSON.
    init(_ id: String, on bench: Bench, capabilities: String, configuration: String = "{}") throws {
        self.id = id
        self.bench = bench
        device = try AnswersDevice(id, on: bench, capabilities: capabilities, configuration: configuration)
        try bench.configure([device.entry])
    }

    /// Sets the records of its history, each in the format of Vitals Link.
    func keep(_ records: [JSONValue]) throws {
        let ascending = records.sorted { $0["start"]?.asDouble ?? 0 < $1["start"]?.asDouble ?? 0 }
        let metrics = Dictionary(grouping: ascending) { $0["metric"]?.asString ?? "" }
        try device.answer(
            Dictionary(
                uniqueKeysWithValues: metrics.map { metric, records in
                    let samples = records.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: ",")
                    return ("history/read \(metric)", #"{"result":{"samples":[\#(samples)],"next":null}}"#)
                }))
    }

    /// A record of this metric between two moments, with more members.
    static func record(
        _ metric: String, from start: Date, to end: Date? = nil, _ members: [JSONValue.Member]
    ) -> JSONValue {
        func moment(_ date: Date) -> JSONValue { .number((date.timeIntervalSince1970 * 1000).rounded()) }
        return .object(
            [
                JSONValue.Member("metric", .string(metric)), JSONValue.Member("start", moment(start)),
                JSONValue.Member("end", moment(end ?? start)),
            ] + members)
    }

    /// A sleep in one stage.
    static func sleep(from start: Date, to end: Date) -> JSONValue {
        let stage = record("light", from: start, to: end, [])
        let bounds: [JSONValue.Member] = ["start", "end"].map { JSONValue.Member($0, stage[$0] ?? .null) }
        return record(
            "sleep", from: start, to: end,
            [JSONValue.Member("stages", [.object([JSONValue.Member("stage", "light")] + bounds)])])
    }

    /// Synchronises it. Returns the answer.
    @discardableResult
    func sync(_ command: String) async throws -> JSONValue {
        try await bench.command("\(id)/command/sync", id: command)
    }
}
