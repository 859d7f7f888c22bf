import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// Values that others publish at the broker, through a real one to the whole gateway.
@Suite(.timeLimit(.minutes(10)))
struct ValueMessageTests {
    private static let device = """
        {id: scale, driver: mqtt-values, options: {topics: [{topic: scale/live, values: [{metric: weight}]}, \
        {topic: scale/kept, values: [{metric: weight, path: weight, unit_path: unit, time: at}]}]}}
        """

    private func publish(
        _ bench: Bench, _ topic: String, _ payload: String, qos: MQTT.QualityOfService = .atLeastOnce,
        isRetained: Bool = false
    ) async throws {
        try await bench.server.publish(
            OutgoingMessage(topic: topic, payload: Array(payload.utf8), qos: qos, isRetained: isRetained),
            as: bench.account)
    }

    /// Publishes a weight until it arrives: the gateway subscribes some moments after its start. All of them are one measurement.
    private func publishUntilTaken(
        _ bench: Bench, _ weight: Int, by device: String = "scale", below prefix: String = ""
    ) async throws {
        let end = ContinuousClock.now + Bench.timeout
        while !bench.values(device, "weight").contains(weight) {
            try #require(ContinuousClock.now < end, "\(weight)")
            try await publish(bench, "\(prefix)\(device)/live", "\(weight)")
            _ = try? await bench.subscriber.wait(deadline: .seconds(1)) { messages in
                messages.contains {
                    $0.topic == "\(Bench.base)/\(device)/measurement/weight" && $0.text.contains("\(weight)")
                }
            }
        }
    }

    @Test func `values of others are samples once, over restarts of the gateway`() async throws {
        try await withBench(watching: "\(Bench.base)/#") { bench in
            try bench.configure([Self.device])
            // The one has a time, and is the same each time; the age of the other is unknown.
            let kept = #"{"weight":80000,"unit":"g","at":"2026-01-05T12:00:00Z"}"#
            try await publish(bench, "scale/kept", kept, isRetained: true)
            try await publish(bench, "scale/live", "90", isRetained: true)
            for weight in [60, 61] {
                let gateway = bench.startGateway()
                try await publishUntilTaken(bench, weight)
                try await bench.end(gateway, by: .end)
            }
            #expect(bench.values("scale", "weight") == [60, 61, 80])
            let gateway = bench.startGateway()
            try await publishUntilTaken(bench, 62)
            // What the gateway gets while it is connected is not lost, however much it is.
            for weight in 100..<160 { try await publish(bench, "scale/live", "\(weight)") }
            try await publishUntilTaken(bench, 160)
            #expect(bench.values("scale", "weight") == [60, 61, 62, 80] + Array(100...160))
            try await bench.end(gateway, by: .end)
        }
    }

    @Test func `each publisher becomes a device with what it sent, also after a restart, and one too many is named`()
        async throws
    {
        func entry(_ id: String, _ option: String) -> String {
            """
            {id: \(id), driver: mqtt-values, options: {\(option), topics: [{topic: "zig/{device}/live", \
            values: [{metric: weight}]}]}}
            """
        }
        try await withBench(watching: "\(Bench.base)/#") { bench in
            try bench.configure([entry("beds", "each_device: true")])
            let configuration = try String(contentsOfFile: bench.path("gateway.yaml"), encoding: .utf8)
            try "\(configuration)devices_from: devices.d\n".write(
                toFile: bench.path("gateway.yaml"), atomically: true, encoding: .utf8)
            try FileManager.default.createDirectory(
                atPath: bench.path("devices.d"), withIntermediateDirectories: false)
            // All of the hundred but two.
            let others = (1...98).map { "- \(entry("other-\($0)", "device: other-\($0)"))\n" }.joined()
            try others.write(toFile: bench.path("devices.d/others.yaml"), atomically: true, encoding: .utf8)
            var gateway = bench.startGateway()
            try await publishUntilTaken(bench, 71, by: "left", below: "zig/")
            try await publishUntilTaken(bench, 72, by: "right", below: "zig/")
            try await publish(bench, "zig/more/live", "73")
            try await gateway.says("A part of a topic gets no device, since there are too many")
            try await bench.end(gateway, by: .end)
            gateway = bench.startGateway()
            for device in ["left", "right"] { try await publishUntilTaken(bench, 74, by: device, below: "zig/") }
            #expect(bench.values("left", "weight") == [71, 74] && bench.values("right", "weight") == [72, 74])
            #expect(bench.messages("more/info").isEmpty)
            try await bench.end(gateway, by: .end)
        }
    }

    // MARK: - Publishers

    /// The entries of the page for people, each with a name of its own. What is repeated is the same, however slow the machine is.
    private static func entries() throws -> [String] {
        let page = try String(contentsOfFile: Repository.file("docs/ValuesOnTheBroker.md"), encoding: .utf8)
        var entries: [String] = []
        for (number, rest) in page.components(separatedBy: "```yaml\ndevices:\n").dropFirst().enumerated() {
            let entry = rest.components(separatedBy: "\n```")[0]
                .replacing("- id: scale\n", with: "- id: scale-\(number)\n")
                .replacing("    options:\n", with: "    options:\n      same_for: 1d\n")
            entries.append(entry.replacing("options: {", with: "options: {same_for: 1d, "))
        }
        return entries
    }

    private static let subscriptions = [
        "zigbee2mqtt/+", "home/+/BTtoMQTT/+", "scales/sensor/xiaomi_mi_scale_weight/state",
        "stat/tasmota_48D204/SENSOR", "a0:e6:f8:50:72:53/BatteryService/BatteryLevel", "zigbee2mqtt/bed",
        "health/anna/cuff",
    ]

    /// What six publishers have published, and after it measurements with other numbers or times in the same form.
    private static func published(_ round: Int) throws -> [(topic: String, payload: String)] {
        let file = Repository.file("Plugins/Phones/Tests/Fixtures/Values/published.tsv")
        let changes: [(String, String)] = [
            (#""weight":89.7"#, #""weight":\#(89 + round).7"#), ("62.50", "\(62 + round).50"),
            (#""weight": 3"#, #""weight": \#(3 + round)"#), (#""temperature":16"#, #""temperature":\#(16 + round)"#),
            ("20:44:09", "20:4\(4 + round):09"), ("1739360702123", "\(1_739_360_702_123 + round * 1000)"),
        ]
        return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
            let parts = line.split(separator: "\t").map(String.init)
            return (parts[1], changes.reduce(parts[2]) { $0.replacing($1.0, with: $1.1) })
        }
    }

    /// Worked out from the messages of the first rounds: of a scale in kg, of the bed in °C, of the cuff the systolic pressures, of
    /// the strap's battery, which stays the same, one in per cent.
    private static func expected(after rounds: Int) -> [String: [Double]] {
        let all: [String: [Double]] = [
            "scale-1": [89.7, 90.7, 91.7], "scale-2": [62.5, 63.5, 64.5], "scale-3": [3, 4, 5], "bed": [16, 17, 18],
            "cuff": [128, 128, 128],
        ]
        return all.mapValues { Array($0.prefix(rounds)) }.merging(["strap": [100]]) { $1 }
    }

    /// The values that consumers have by now, each id once.
    private static func taken(_ messages: [InboundMessage]) -> [String: [Double]] {
        var found: [String: [String: Double]] = [:]
        for message in messages {
            let levels = message.topic.split(separator: "/")
            guard levels.count == 5, levels[3] == "measurement", levels[2] != "probe" else { continue }
            for sample in message.json["samples"]?.asArray ?? [] {
                guard let id = sample["id"]?.asString,
                    let value = sample["value"]?.asDouble ?? sample["fields"]?["systolic"]?.asDouble
                else { continue }
                found[String(levels[2]), default: [:]][id] = value
            }
        }
        return found.mapValues { $0.values.sorted() }
    }

    @Test func `recorded messages of six publishers are samples once, over restarts of the gateway and of the broker`()
        async throws
    {
        // The broker's log has each subscription.
        let options = MosquittoOptions(isPersistent: true, lines: ["log_type subscribe"])
        try await withBench(options, watching: "\(Bench.base)/#") { bench in
            try bench.configure([])
            let entries = try Self.entries()
            #expect(entries.count == Self.subscriptions.count)
            let probe =
                "  - {id: probe, driver: mqtt-values, options: {topics: [{topic: probe/live, values: [{metric: weight}]}]}}"
            let configuration = try String(contentsOfFile: bench.path("gateway.yaml"), encoding: .utf8)
            try configuration.replacing(
                "devices: []", with: "devices:\n" + (entries + [probe]).joined(separator: "\n")
            ).write(toFile: bench.path("gateway.yaml"), atomically: true, encoding: .utf8)

            var weight = 40
            /// Waits until the broker has each subscription for the given time since its start.
            func subscribed(times: Int) async throws {
                let end = ContinuousClock.now + Bench.timeout
                repeat {
                    try #require(ContinuousClock.now < end)
                    weight += 1
                    try await publishUntilTaken(bench, weight, by: "probe")
                } while !Self.subscriptions.allSatisfy { topic in
                    bench.server.log.count { $0.hasSuffix(" \(topic)") } >= times
                }
            }
            func publish(round: Int) async throws {
                for (topic, payload) in try Self.published(round) {
                    try await self.publish(bench, topic, payload, qos: .atMostOnce)
                }
            }
            func arrived(after rounds: Int) async throws {
                let expected = Self.expected(after: rounds)
                _ = try? await bench.subscriber.wait(deadline: Bench.timeout) { Self.taken($0) == expected }
                // What would be too much came before this.
                weight += 1
                try await publishUntilTaken(bench, weight, by: "probe")
                let taken = Self.taken(bench.subscriber.messages)
                #expect(taken == expected)
            }

            var gateway = bench.startGateway()
            try await subscribed(times: 1)
            try await publish(round: 0)
            try await arrived(after: 1)
            try await bench.message("strap/latest/battery") { $0.json["value"]?.asInt == 100 }

            try await bench.end(gateway, by: .end)
            gateway = bench.startGateway()
            try await subscribed(times: 2)
            for round in [0, 1] { try await publish(round: round) }
            try await arrived(after: 2)

            try await bench.server.restart()
            try await subscribed(times: 1)
            for round in [1, 2] { try await publish(round: round) }
            try await arrived(after: 3)
            try await bench.end(gateway, by: .end)
        }
    }
}
