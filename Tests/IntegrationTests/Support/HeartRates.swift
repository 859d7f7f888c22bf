import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing

/// The heart rates of the CSV file, as expected at the consumer.
struct HeartRates: Sendable {
    /// `start` and `value` by `id`.
    private(set) var samples: [String: JSONValue] = [:]

    /// Reads the file and computes the ids with a program that shares no code with the gateway.
    init(of device: String, on bench: Bench) async throws {
        let program = bench.programs.start(
            "python3", [Repository.fixture("expected_samples.py"), Repository.heartRates, device])
        try await program.end(within: Bench.timeout)
        for line in program.events.elements where !line.isEnd {
            let sample = try JSONValue(parsing: Array(line.text.utf8))
            samples[try #require(sample["id"]?.asString)] = sample
        }
        try #require(samples.count == 68)
    }

    /// Checks the ids, starts, ends and values of the samples that arrived.
    func check(_ arrived: [String: JSONValue], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(Set(arrived.keys) == Set(samples.keys), sourceLocation: sourceLocation)
        for (id, sample) in samples {
            guard let other = arrived[id] else { continue }
            for key in ["start", "end", "value", "user_initiated"] {
                #expect(other[key] == sample[key], "\(key) of \(id)", sourceLocation: sourceLocation)
            }
        }
    }
}

extension Bench {
    /// Waits until a consumer knows every heart rate of the file, and at least `count` in all.
    @discardableResult
    func wait(for count: Int, by consumer: Consumer) async throws -> Consumer.Knowledge {
        do {
            try await subscriber.wait(deadline: Self.timeout) { consumer.read($0).samples.count >= count }
        } catch {
            Issue.record("Only \(consumer.knowledge.samples.count) of \(count) samples arrived.")
            throw error
        }
        return consumer.knowledge
    }

    /// The configuration entry of the Python wearable, started by the gateway.
    func execDevice(_ id: String, _ arguments: [String] = []) -> String {
        let command = ["python3", Repository.device] + arguments
        return "{id: \(id), name: \(id), driver: link, transport: "
            + "{type: exec, command: [\(command.map { "\"\($0)\"" }.joined(separator: ", "))]}}"
    }

    /// The configuration entry of a device that listens on a loopback port.
    func tcpDevice(_ id: String, port: Int) -> String {
        "{id: \(id), name: \(id), driver: link, transport: {type: tcp, host: 127.0.0.1, port: \(port)}}"
    }

    /// Starts a Python device that listens, and returns it with its port.
    func startDevice(_ script: String, _ arguments: [String]) async throws -> (program: ChildProgram, port: Int) {
        let program = programs.start("python3", [script, "--tcp", "127.0.0.1:0"] + arguments)
        let events = try await program.events.wait(within: Self.timeout) { events in
            events.contains { $0.isEnd || $0.text.hasPrefix("listening ") }
        }
        let line = try #require(events.map(\.text).first { $0.hasPrefix("listening ") }, "\(events)")
        return (program, try #require(Int(line.dropFirst("listening ".count))))
    }
}
