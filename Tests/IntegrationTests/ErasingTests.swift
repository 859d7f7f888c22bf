import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// `vitals2mqtt erase` with a phone's exports, a real broker, and the gateway before and after it.
@Suite(.timeLimit(.minutes(10)))
struct ErasingTests {
    private static let name = "anna-whose-bytes-are-sought"

    private func device(_ more: String = "") -> String {
        "{id: ring, driver: gadgetbridge, person: \(Self.name)\(more), options: {path: phone}}"
    }

    /// Heart rates of hours ago, and one of this moment if it is given.
    private func export(now value: Int? = nil, on bench: Bench) async throws {
        let now = Int(Date.now.timeIntervalSince1970)
        let noon = 1_767_614_400
        var rows = (0..<20).map { "(\((noon + $0 * 60) * 1000), 1, 1, \(60 + $0))" }
        if let value { rows.append("(\((now + 2) * 1000), 1, 1, \(value))") }
        let sql = "INSERT INTO COLMI_HEART_RATE_SAMPLE VALUES \(rows.joined(separator: ", "));"
        try await PhoneExport.write([sql], as: "phone/Gadgetbridge.db", on: bench)
    }

    /// The retained messages below the device's topics.
    private func retained(on bench: Bench) async throws -> [String] {
        try await bench.server.publish(OutgoingMessage(topic: "end-of-retained", payload: [1], isRetained: true))
        var topics: [String] = []
        try await bench.server.withSubscriber { subscriber in
            let messages = try await subscriber.wait(deadline: Bench.timeout) { messages in
                messages.contains { $0.topic == "end-of-retained" }
            }
            // All retained messages come before what is published after the subscription.
            try await bench.server.publish(OutgoingMessage(topic: "marker", payload: [1]))
            _ = try await subscriber.first(from: 0, deadline: Bench.timeout) { $0.topic == "marker" }
            topics = (messages + subscriber.messages).filter(\.isRetained).map(\.topic)
        }
        return Array(Set(topics.filter { $0.hasPrefix("\(Bench.base)/ring/") })).sorted()
    }

    /// The files of the store that have one of these texts.
    private func files(with texts: Set<String>, on bench: Bench) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bench.folder).filter { $0.hasPrefix("vitals.sqlite") }
            .filter { name in
                let data = try Data(contentsOf: URL(filePath: bench.path(name)))
                return texts.contains { data.range(of: Data($0.utf8)) != nil }
            }
    }

    /// The values in the store.
    private func stored(_ id: String, on bench: Bench) async throws -> [JSONValue] {
        let answer = try await bench.command("ring/command/history", id: id, #""metric":"heart_rate","limit":500"#)
        return answer["data"]?["samples"]?.asArray ?? []
    }

    @Test func `what was erased is nowhere, and comes back with no export until the configuration gives a date`()
        async throws
    {
        try await withBench { bench in
            try FileManager.default.createDirectory(atPath: bench.path("phone"), withIntermediateDirectories: false)
            try await export(on: bench)
            var gateway = try await bench.start([device()], synced: "ring")
            // The answer has the name and the ids.
            let before = try await stored("before", on: bench)
            #expect(before.count == 20)
            let sought = Set(before.compactMap { $0["id"]?.asString } + [Self.name])
            #expect(sought.count == 21)
            try await bench.end(gateway, by: .end)
            let found = try files(with: sought, on: bench)
            #expect(!found.isEmpty)
            let topics = try await retained(on: bench)
            #expect(!topics.isEmpty)

            let erase = bench.programs.start(
                Repository.gateway, ["erase", "--config", bench.path("gateway.yaml"), "--person", Self.name, "--yes"])
            try await erase.end(within: Bench.timeout)
            #expect(erase.events.elements.last?.text == "ended: exited(0)")
            let left = try files(with: sought, on: bench)
            #expect(left.isEmpty)
            let emptied = try await retained(on: bench)
            #expect(emptied.isEmpty)

            // The folder still has the export, and then a new one with the old values and one of now.
            let start = bench.position
            gateway = bench.startGateway()
            try await bench.synced("ring", from: start)
            let again = try await stored("again", on: bench)
            #expect(again.isEmpty)
            try await export(now: 99, on: bench)
            try await bench.message("ring/measurement/heart_rate", from: start) { message in
                (message.json["samples"]?.asArray ?? []).contains { $0["value"]?.asInt == 99 }
            }
            let new = try await stored("new", on: bench)
            #expect(new.compactMap { $0["value"]?.asInt } == [99])

            try bench.configure([device(", from: 2026-01-01")])
            let answer = try await bench.command("gateway/command/reload", id: "reload")
            #expect(answer["data"]?["changed"] == ["ring"])
            try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                let values = messages.dropFirst(start).filter { $0.topic.hasSuffix("/ring/measurement/heart_rate") }
                    .flatMap { $0.json["samples"]?.asArray ?? [] }.compactMap { $0["value"]?.asInt }
                return Set(values).isSuperset(of: Array(60..<80))
            }
            try await bench.end(gateway, by: .end)
        }
    }
}
