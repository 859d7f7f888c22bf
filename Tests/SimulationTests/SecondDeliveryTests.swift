import GatewayKit
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// A command that is delivered twice, which brokers and clients may do after a broken connection.
@Suite struct SecondDeliveryTests {
    @Test func `a command that comes again after it expired has the answer that it had`() throws {
        try Scenario.everyOrder(0..<10) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                let expiry = home.simulation.gatewayClock.now + .seconds(40)
                let command = OutgoingMessage(
                    topic: "\(Scenario.base)/band/command/fetch",
                    payload: Array(#"{"id":"once","expires_at":"\#(expiry)"}"#.utf8))
                home.broker.publish(command)
                #expect(try await home.answer("once")["status"] == "done")
                try await home.sleep(for: .minutes(1))
                home.broker.publish(command)
                try await home.sleep(for: .minutes(1))
                let answers = home.observation.messages.filter { $0.message.topic.hasSuffix("/response") }
                    .compactMap { try? JSONValue(parsing: $0.message.payload) }
                #expect(answers.map { $0["status"] } == ["done", "done"])
            }
        }
    }

    @Test func `an answer does not come a second time after a crash a second later`() throws {
        try Scenario.everyOrder(0..<10) { home in
            let band = try home.device("band")
            try await home.run([band], crashing: true) {
                try await home.settled("band")
                #expect(try await home.ask("band/command/fetch")["status"] == "done")
                try await home.sleep(for: .seconds(1))
            }
            try await home.run([band]) { try await home.sleep(for: .minutes(1)) }
            let answers = home.observation.messages.filter { $0.message.topic.hasSuffix("/response") }
                .compactMap { try? JSONValue(parsing: $0.message.payload) }
            #expect(answers.map { $0["status"] } == ["done"], "seed \(home.simulation.seed)")
        }
    }
    @Test func `an id at two devices is two commands, and each response topic has only its own device's values`()
        throws
    {
        try Scenario.everyOrder(0..<10) { home in
            try await home.run([try home.device("band"), try home.device("ring")]) {
                for device in ["band", "ring"] {
                    try await home.settled(device)
                    try await home.message("\(device)/measurement/heart_rate")
                }
                for command in ["band/command/history", "ring/command/history", "ring/command/daily"] {
                    home.broker.publish(
                        OutgoingMessage(
                            topic: "\(Scenario.base)/\(command)",
                            payload: Array(#"{"id":"h1","metric":"heart_rate"}"#.utf8)))
                }
                try await home.sleep(for: .minutes(1))
                let answers = home.observation.messages.filter { $0.message.topic.hasSuffix("/response") }
                var samples: [String: Set<String>] = [:]
                var count = 0
                for answer in answers {
                    let body = try JSONValue(parsing: answer.message.payload)
                    let device = try #require(body["device"]?.asString)
                    #expect(answer.message.topic == "\(Scenario.base)/\(device)/response")
                    #expect(body["status"] == "done")
                    count += 1
                    let ids = body["data"]?["samples"]?.asArray?.compactMap { $0["id"]?.asString } ?? []
                    samples[device, default: []].formUnion(ids)
                }
                #expect(count == 3)
                let (band, ring) = (samples["band", default: []], samples["ring", default: []])
                #expect(!band.isEmpty && !ring.isEmpty && band.isDisjoint(with: ring))
            }
        }
    }
}
