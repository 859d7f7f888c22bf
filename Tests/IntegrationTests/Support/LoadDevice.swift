import Foundation
import TestSupport
import Testing

/// A device that sends samples as fast as they are acknowledged.
struct LoadDevice: Sendable {
    let name: String
    let port: Int
    let program: ChildProgram
    let journal: String

    /// Starts a device, optionally limited to `rate` samples per second.
    init(_ name: String, rate: Int? = nil, on bench: Bench) async throws {
        self.name = name
        journal = bench.path("\(name).acknowledged")
        (program, port) = try await bench.startDevice(
            Repository.fixture("load_device.py"),
            ["--name", name, "--journal", journal] + (rate.map { ["--rate", "\($0)"] } ?? []))
    }

    /// How many samples were acknowledged so far.
    var acknowledged: Int { Self.count(program.events.elements) }

    /// Waits until `count` samples in total were acknowledged.
    func wait(for count: Int) async throws {
        try await program.events.wait(within: Bench.timeout) { Self.count($0) >= count }
    }

    private static func count(_ events: [ChildProgram.Event]) -> Int {
        let line = events.last { $0.text.hasPrefix("acknowledged ") }?.text
        return line.flatMap { Int($0.dropFirst("acknowledged ".count)) } ?? 0
    }

    /// Ends the device. Returns the ids of the acknowledged samples in order, as computed by the device.
    func end(on bench: Bench) async throws -> [String] {
        try await bench.end(program, by: .kill)
        let text = try String(contentsOfFile: journal, encoding: .utf8)
        return text.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    }
}

extension Bench {
    /// Waits until a consumer knows all of these samples, and all facts numbered before its last one. Within half an
    /// hour after midnight, a past day is also published, and the samples overtake it.
    @discardableResult
    func wait(for ids: [String], by consumer: Consumer) async throws -> Consumer.Knowledge {
        let wanted = Set(ids)
        do {
            try await subscriber.wait(deadline: Self.timeout) { messages in
                let known = consumer.read(messages)
                return known.samples.count >= wanted.count && wanted.isSubset(of: known.samples.keys)
                    && known.holes.isEmpty
            }
        } catch {
            let missing = wanted.subtracting(consumer.knowledge.samples.keys)
            Issue.record(
                """
                \(missing.count) of \(wanted.count) acknowledged samples are lost, and the facts \
                \(consumer.knowledge.holes.prefix(10)) of \(consumer.knowledge.facts.count).
                """)
            throw error
        }
        return consumer.knowledge
    }
}
