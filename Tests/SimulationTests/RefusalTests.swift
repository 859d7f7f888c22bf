import GatewayKit
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// A broker whose access list restricts the gateway's topics.
@Suite struct RefusalTests {
    @Test func `an answer that may not go where it is wanted is given up, and the connection holds`() throws {
        try Scenario.everyOrder(0..<10) { home in
            home.broker.forbid("elsewhere/#")
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                // The second command's answer has two parts; the first is not stored.
                for name in ["fetch", "sync"] {
                    home.broker.publish(
                        OutgoingMessage(
                            topic: "\(Scenario.base)/band/command/\(name)", payload: [], responseTopic: "elsewhere/me")
                    )
                }
                try await home.sleep(for: .minutes(1))
                let answer = try await home.ask("band/command/fetch")
                #expect(answer["status"]?.asString == "done")
                #expect(home.broker.connectionAttempts == 1)
            }
        }
    }

    @Test func `an answer that cannot be sent at all is given up, and the connection holds`() throws {
        // The contract allows it; libmosquitto accepts no topic with so many levels.
        let topic = Array(repeating: "a", count: 300).joined(separator: "/")
        try Scenario.everyOrder(0..<10) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                home.broker.publish(
                    OutgoingMessage(
                        topic: "\(Scenario.base)/band/command/sync", payload: [], responseTopic: topic))
                try await home.sleep(for: .minutes(1))
                let answer = try await home.ask("band/command/fetch")
                #expect(answer["status"]?.asString == "done")
                #expect(home.broker.connectionAttempts == 1)
            }
        }
    }

    @Test func `commands that come faster than they can be taken are counted as refused`() throws {
        try Scenario.everyOrder(0..<10) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                try await home.sleep(for: .minutes(1))
                // All arrive at once, and none can be taken meanwhile.
                home.broker.hold()
                for _ in 0..<BrokerOptions.defaultMaximumInbound + 3 {
                    home.broker.publish(OutgoingMessage(topic: "homeassistant/status", payload: Array("offline".utf8)))
                }
                let start = home.position
                home.broker.release()
                let state = try await home.message("gateway/state", from: start) { $0["dropped"]?["refused"] != nil }
                #expect(state["dropped"]?["refused"]?.asInt == 3)
                #expect(home.broker.connectionAttempts == 1)
            }
        }
    }

    @Test func `a state that may not be written does not hold up what may`() throws {
        try Scenario.everyOrder(0..<10) { home in
            home.broker.forbid("homeassistant/#")
            try await home.run([try home.device("band")]) {
                try await home.message("band/measurement/heart_rate")
                try await home.sleep(for: .minutes(1))
                #expect(home.broker.connectionAttempts == 1)
                #expect(home.retained(about: "band").contains("\(Scenario.base)/band/latest/heart_rate"))
            }
        }
    }
}
