import Foundation
import JSON

/// A device whose history is a file that the test writes.
struct RecordsDevice {
    let id: String
    private let bench: Bench

    /// - Parameters:
    ///   - capabilities: its capabilities, as JSON.
    ///   - configuration: its monitoring of the heart rate, as JSON.
    init(_ id: String, on bench: Bench, capabilities: String, configuration: String = "{}") throws {
        self.id = id
        self.bench = bench
        try keep([])
        let command = [
            "python3", Repository.fixture("records_device.py"), "--records", bench.path("\(id).records"),
            "--capabilities", capabilities, "--configuration", configuration,
        ]
        try bench.configure([
            "{id: \(id), name: \(id), driver: link, transport: "
                + "{type: exec, command: [\(command.map { "'\($0)'" }.joined(separator: ", "))]}}"
        ])
    }

    /// Sets the records of its history, each in the format of Vitals Link.
    func keep(_ records: [JSONValue]) throws {
        let text = records.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "\n")
        try text.write(toFile: bench.path("\(id).records"), atomically: true, encoding: .utf8)
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
