import Delivery
import Logging
import MQTT
import TestSupport
import Testing
import Vitals

/// A broker that takes nothing, or keeps what another store left.
@Suite struct AccessListTests {
    @Test func `where the broker drops all without a word, the log says so with the remedy, until it takes something`()
        throws
    {
        try Scenario.everyOrder(0..<5) { home in
            home.broker.forbid("#")
            try await home.run([try home.device("band")], speaking: .v311) {
                try await home.sleep(for: .seconds(40))
                let said = home.log.entries.filter { $0.level == .error }
                #expect(said.map { $0.metadata["write"] } == ["vitals2mqtt/home/#"], "\(said)")
                #expect(said.first?.metadata["read"] == "vitals2mqtt/home/+/info")
                home.broker.allowAll()
                // It is tried on the open connection.
                try await home.message("gateway/info")
                try await home.sleep(for: .minutes(5))
                #expect(home.broker.connectionAttempts == 1)
                #expect(home.log.entries.count { $0.level == .error } == 1)
            }
        }
    }

    @Test func `a refusal names topic and remedy, is repeated seldom, and does not end the connection each time`()
        throws
    {
        try Scenario.everyOrder(0..<5) { home in
            home.broker.forbid("#")
            try await home.run([try home.device("band")]) {
                try await home.sleep(for: .minutes(4))
                let said = home.log.entries.filter {
                    $0.level == .error && $0.message.hasPrefix("The broker does not take a message;")
                }
                #expect(said.first?.metadata["topic"] == "vitals2mqtt/home/gateway/status")
                #expect(said.allSatisfy { $0.metadata["remedy"]?.contains("access list") == true })
                #expect((1..<20).contains(said.count), "\(said.count)")
                // They hold for 10, 20, 40 and then 60 seconds.
                #expect((3...8).contains(home.broker.connectionAttempts), "\(home.broker.connectionAttempts)")
            }
        }
    }

    @Test func `what another store left of a device that is not configured is emptied, and said`() throws {
        try Scenario.everyOrder(0..<5) { home in
            let left = ["info", "availability", "latest/heart_rate", "alert/stress_high"]
            for device in ["old", "band"] {
                for topic in left {
                    let schema = topic == "info" ? "info" : "other"
                    let payload = Array(#"{"schema":"vitals2mqtt.\#(schema)/1","id":"old"}"#.utf8)
                    home.broker.publish(
                        OutgoingMessage(
                            topic: "\(Scenario.base)/\(device)/\(topic)", payload: payload, isRetained: true))
                }
            }
            home.broker.publish(
                OutgoingMessage(topic: "\(Scenario.base)/lamp/info", payload: Array("on".utf8), isRetained: true))
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                try await home.sleep(for: .seconds(10))
                #expect(home.broker.retained("\(Scenario.base)/old/#").isEmpty)
                #expect(home.broker.retained("\(Scenario.base)/lamp/#").count == 1, "it is none of ours")
                #expect(home.broker.retained("\(Scenario.base)/band/#").count > left.count)
                #expect(home.log.entries.count { $0.level == .notice && $0.metadata["device.id"] == "old" } == 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a broker that does not let the gateway read its own topics gets everything all the same`(cuts: Bool) throws {
        try Scenario.everyOrder(0..<5) { home in
            let filter = "\(Scenario.base)/+/info"
            if cuts { home.broker.cutAtSubscription(filter) } else { home.broker.forbidSubscription(filter) }
            try await home.run([try home.device("band")], speaking: .v311) {
                try await home.settled("band")
                try await home.message("band/measurement/heart_rate")
                try await home.sleep(for: .minutes(1))
                #expect(home.broker.connectionAttempts == (cuts ? DocumentTopics.maximumCuts + 1 : 1))
                let said = home.log.entries.filter { $0.metadata["topic"] == filter }
                #expect(said.map(\.level) == [cuts ? .error : .warning], "\(said)")
                #expect(!home.log.entries.contains { $0.metadata["write"] != nil })
            }
        }
    }
}
