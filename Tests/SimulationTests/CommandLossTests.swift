import Delivery
import GatewayKit
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// Commands that the gateway has received when its connection or its run ends: the broker will not send them again.
@Suite struct CommandLossTests {
    /// Nearly as many as may wait to be read, beside messages from Home Assistant.
    private static let burst = BrokerOptions.defaultMaximumInbound - 24

    /// The final answers of commands, by their ids.
    private static func finals(_ home: Scenario) throws -> [String: [String]] {
        var finals: [String: [String]] = [:]
        for message in home.observation.messages where message.message.topic.hasSuffix("/response") {
            let answer = try JSONValue(parsing: message.message.payload)
            guard let id = answer["id"]?.asString, let status = answer["status"]?.asString, status != "accepted" else {
                continue
            }
            finals[id, default: []].append(answer["code"]?.asString ?? status)
        }
        return finals
    }

    @Test func `a burst that was received before a cut is answered after it, each command once`() throws {
        try Scenario.everyOrder(0..<3, deadline: .minutes(40)) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                let ids = (0..<Self.burst).map { _ in home.send("band/command/history", "\"metric\":\"heart_rate\"") }
                home.broker.cut()
                try await home.sleep(for: .minutes(1))
                let finals = try Self.finals(home)
                let open = ids.filter { finals[$0] == nil }
                #expect(open.isEmpty, "\(open.count) of \(ids.count) have no answer")
                #expect(ids.allSatisfy { Set(finals[$0] ?? []).count <= 1 })
            }
        }
    }

    @Test func `commands that were received before a stop are answered, at once or by the next run`() throws {
        try Scenario.everyOrder(0..<3, deadline: .minutes(40)) { home in
            let ids = Recorder<String>()
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                for _ in 0..<Self.burst {
                    ids.append(home.send("band/command/history", "\"metric\":\"heart_rate\""))
                }
            }
            try await home.run([try home.device("band")]) {
                try await home.sleep(for: .minutes(1))
            }
            let finals = try Self.finals(home)
            let open = ids.elements.filter { finals[$0] == nil }
            #expect(open.isEmpty, "\(open.count) of \(ids.elements.count) have no answer")
            #expect(Set(finals.values.joined()).isSubset(of: ["done", "offline", "busy", "timeout"]))
        }
    }
}
