import GatewayKit
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// Checks random payloads for `config/set`: the configuration published afterwards is valid, is either the old one or
/// the old one with exactly this change, and is also on the device.
@Suite struct PatchTests {
    private static let start = Timestamp(seconds: 1_795_262_400)  // 2026-11-21T12:00Z

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `any patch leaves a valid configuration, or the one that was`(seed: UInt64) throws {
        try Simulation.run(seed: seed, start: Self.start, deadline: .days(2)) { simulation in
            let environment = try FourWearables(simulation: simulation, zone: "Europe/Berlin", historyDays: 0)
            defer { environment.remove() }
            let configurations = environment.broker.observe("vitals2mqtt/home/+/config")
            try await environment.runGateway {
                try await simulation.gatewayClock.sleep(for: .minutes(1))
                var counts: [String: Int] = [:]
                for device in ["band", "ring", "cuff"] {
                    var patches = RandomPatch(random: simulation.random())
                    for number in 0..<60 {
                        let patch = patches.next(id: "\(device) \(number)")
                        let status = try await Self.send(patch, to: device, environment, configurations)
                        counts[status, default: 0] += 1
                    }
                }
                // Enough of both outcomes to be meaningful.
                #expect(counts["done"] ?? 0 > 20 && counts["rejected"] ?? 0 > 20, "\(counts)")
            }
        }
    }

    /// Sends a patch and checks its effect. Returns the answer's status.
    private static func send(
        _ patch: JSONValue, to device: String, _ environment: FourWearables, _ configurations: BrokerObservation
    ) async throws -> String {
        let topic = "vitals2mqtt/home/\(device)/config"
        @Sendable func configuration(_ messages: [PublishedMessage]) -> JSONValue? {
            messages.last { $0.message.topic == topic }.flatMap { try? JSONValue(parsing: $0.message.payload) }
        }
        let count = configurations.messages.count
        let old = try #require(configuration(configurations.messages))
        let id = try #require(patch["id"]?.asString)
        environment.send("\(patch)", to: device, "config/set")
        let answer = try await environment.answer(id)
        // The settings that the device took may be published after the answer.
        try await environment.simulation.gatewayClock.sleep(for: .seconds(1))
        let new = try #require(configuration(configurations.messages))
        let (before, after) = (PlainRules.settings(old), PlainRules.settings(new))
        #expect(PlainRules.issues(after) == [], "after \(patch)")
        let status = try #require(answer["status"]?.asString)
        switch status {
        case "done":
            var expected = before
            for (path, value) in PlainRules.changes(patch) { expected[path] = PlainRules.published(value, at: path) }
            #expect(after == expected, "\(patch)")
            let rise = (new["version"]?.asInt ?? 0) - (old["version"]?.asInt ?? 0)
            #expect(rise == (before == after ? 0 : 1), "\(patch)")
            #expect(new["pending"] == [], "\(patch)")
        case "rejected":
            #expect(after == before && new["version"] == old["version"], "\(patch)")
            #expect(configurations.messages.count > count, "a control could not fall back after \(patch)")
            #expect(["invalid", "unsupported", "conflict"].contains(answer["code"]?.asString), "\(answer)")
        default: Issue.record("\(patch) was answered \(answer)")
        }
        return status
    }
}
