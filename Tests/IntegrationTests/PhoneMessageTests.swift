import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// Documents that come as messages, from mosquitto_pub to the whole gateway: what is taken, and every way in which one is not.
@Suite(.timeLimit(.minutes(10)))
struct PhoneMessageTests {
    private static let topic = "phones/anna"
    private static let tooLong = "A document is longer than a message may be and is not taken"
    private static let tooFast = "Documents come faster than they are stored; one is not taken."

    private func configure(_ bench: Bench, mqtt: [String] = []) throws {
        try bench.configure(
            ["{id: anna, driver: health-auto-export, transport: {type: mqtt, topic: \(Self.topic)}}"], mqtt: mqtt)
    }

    /// Writes a document with a heart rate at each of these seconds after noon, of which each becomes a sample.
    private func write(_ seconds: Range<Int>, as name: String, on bench: Bench) throws {
        let entries = seconds.map { second in
            let time = String(format: "%02d:%02d:%02d", 12 + second / 3600, second / 60 % 60, second % 60)
            return #"{"date":"2026-01-05 \#(time) +0000","Min":50,"Avg":\#(60 + second % 40),"Max":150}"#
        }
        try
            #"{"data":{"metrics":[{"name":"heart_rate","units":"count/min","data":[\#(entries.joined(separator: ","))]}]}}"#
            .write(toFile: bench.path(name), atomically: true, encoding: .utf8)
    }

    /// Publishes with mosquitto_pub, which ends when the broker has the message.
    private func publish(_ bench: Bench, _ message: [String]) async throws {
        let program = bench.programs.start(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(bench.server.port)", "-q", "1", "-t", Self.topic] + message)
        try await program.end(within: Bench.timeout)
        #expect(program.events.elements.last == .ended("exited(0)"), "\(program.events.elements)")
    }

    /// Publishes a document with one heart rate until it arrives: the gateway subscribes some moments after its start, and takes no
    /// message before. Returns how often it was published.
    @discardableResult
    private func publishUntilTaken(_ second: Int, on bench: Bench) async throws -> Int {
        try write(second..<second + 1, as: "one", on: bench)
        var times = 0
        let end = ContinuousClock.now + Bench.timeout
        while !Self.seconds(bench).contains(second) {
            try #require(ContinuousClock.now < end, "\(second)")
            times += 1
            try await publish(bench, ["-f", bench.path("one")])
            _ = try? await bench.subscriber.wait(deadline: .seconds(1)) { Self.seconds($0).contains(second) }
        }
        return times
    }

    /// The seconds after noon of all heart rates that arrived.
    private static func seconds(_ bench: Bench) -> Set<Int> { seconds(bench.subscriber.messages) }
    private static func seconds(_ messages: [InboundMessage]) -> Set<Int> {
        let samples = messages.filter { $0.topic == "\(Bench.base)/anna/measurement/heart_rate" }
            .flatMap { $0.json["samples"]?.asArray ?? [] }
        return Set(
            samples.compactMap { sample -> Int? in
                let parts = sample["start"]?.asString?.dropFirst(11).prefix(8).split(separator: ":").compactMap {
                    Int($0)
                }
                guard let parts, parts.count == 3 else { return nil }
                return parts[0] * 3600 + parts[1] * 60 + parts[2] - 12 * 3600
            })
    }

    private static func count(_ text: String, in gateway: ChildProgram) -> Int {
        gateway.events.elements.count { $0.text.contains(text) }
    }

    @Test(arguments: ["5", "3.1.1"])
    func `a message over a mebibyte is not taken, and the next one is`(version: String) async throws {
        try await withBench(watching: "\(Bench.base)/#") { bench in
            try configure(bench, mqtt: ["protocol: \"\(version)\""])
            let gateway = bench.startGateway()
            try await publishUntilTaken(0, on: bench)
            try Data(repeating: 32, count: (1 << 20) + 1).write(to: URL(filePath: bench.path("long")))
            try await publish(bench, ["-f", bench.path("long")])
            // With MQTT 5 the broker knows the limit and keeps the message to itself.
            if version != "5" {
                try await gateway.events.wait(within: Bench.timeout) { $0.contains { $0.text.contains(Self.tooLong) } }
            }
            try await publishUntilTaken(1, on: bench)
            #expect(Self.count(Self.tooLong, in: gateway) == (version == "5" ? 0 : 1))
            #expect(Self.seconds(bench) == [0, 1])
            // The same connection all the time.
            #expect(Self.count("The broker is connected.", in: gateway) == 1)
        }
    }

    @Test func `what comes while eight wait is dropped and logged, and all others are stored`() async throws {
        try await withBench(watching: "\(Bench.base)/#") { bench in
            try configure(bench)
            let gateway = bench.startGateway()
            try await publishUntilTaken(0, on: bench)
            // The first one takes its time, and the others are there at once.
            try write(1..<8_001, as: "many", on: bench)
            var (next, sent) = (10_000, Set(0..<8_001))
            var (dropped, repeated) = (0, 0)
            for _ in 0..<5 where dropped == 0 {
                gateway.interrupt(.freeze)
                try await publish(bench, ["-f", bench.path("many")])
                for _ in 0..<18 {
                    try write(next..<next + 1, as: "one", on: bench)
                    try await publish(bench, ["-f", bench.path("one")])
                    sent.insert(next)
                    next += 1
                }
                gateway.interrupt(.thaw)
                // The last message of all is sent until it is not dropped.
                repeated += try await publishUntilTaken(next, on: bench) - 1
                sent.insert(next)
                next += 1
                dropped = Self.count(Self.tooFast, in: gateway)
            }
            let stored = Self.seconds(bench)
            let lost = sent.subtracting(stored)
            #expect(dropped > 0 && stored.isSubset(of: sent))
            // What is missing was logged, and nothing else. The last message may be among what was dropped at first.
            #expect(lost.allSatisfy { $0 >= 10_000 })
            #expect((dropped - repeated...dropped).contains(lost.count), "\(lost.count) of \(dropped), \(repeated)")
        }
    }

    @Test func `a retained message is taken at each connection, and one sent while the gateway was offline is not`()
        async throws
    {
        try await withBench(watching: "\(Bench.base)/#") { bench in
            try configure(bench)
            try write(0..<1, as: "offline", on: bench)
            try await publish(bench, ["-f", bench.path("offline")])
            try write(1..<2, as: "retained", on: bench)
            try await publish(bench, ["-r", "-f", bench.path("retained")])
            for _ in 0..<2 {
                let start = bench.position
                let gateway = bench.startGateway()
                // A session begins without another message.
                try await bench.connected("anna", from: start)
                try await publishUntilTaken(2, on: bench)
                #expect(Self.seconds(bench) == [1, 2])
                try await bench.end(gateway, by: .end)
            }
            // An empty message deletes the retained one, and is no document.
            let gateway = bench.startGateway()
            try await publish(bench, ["-r", "-n"])
            try await publishUntilTaken(3, on: bench)
            try await bench.end(gateway, by: .end)
            let last = bench.startGateway()
            try await publishUntilTaken(4, on: bench)
            #expect(Self.seconds(bench) == [1, 2, 3, 4])
            for run in [gateway, last] { #expect(Self.count("A document cannot be read.", in: run) == 0) }
        }
    }
}
