import Delivery
import GatewayKit
import GatewayTesting
import JSON
import MQTT
import Synchronization
import TestSupport
import Testing
import Vitals

/// A broker that does not take some messages: it refuses them, or it cuts the connection.
@Suite struct PoisonTests {
    private static let beats = "\(Scenario.base)/band/measurement/heart_rate"

    @Test func `a fact at which the broker cuts the connection is quarantined, and all others arrive`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.cutAt { $0.topic == Self.beats }
            try await home.run([try home.device("band"), try home.device("ring")]) {
                let gap = try await home.message("band/event/gap") { $0["reason"]?.asString == "refused" }
                #expect(gap["metric"] == "heart_rate")
                let number = try #require(gap["sequences"]?.asArray?.first?["from_seq"]?.asInt)
                try await home.message("ring/measurement/heart_rate")
                try await home.message("gateway/state") { ($0["quarantined"]?.asInt ?? 0) > 0 }

                // A broker that takes it at last gets it again by its number, and the number of quarantined facts falls.
                home.broker.cutAt(nil)
                let start = home.position
                let answer = try await home.ask("gateway/command/replay", "\"from_seq\":\(number),\"to_seq\":\(number)")
                #expect(answer["data"]?["replayed"]?.asInt == 1)
                let again = try await home.message("band/measurement/heart_rate", from: start) {
                    $0["seq"]?.asInt == number
                }
                #expect(again["source"] == "replay")
            }
        }
    }

    @Test func `a fact that the broker never acknowledges is quarantined, and all others arrive`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            let swallowed = Mutex<Int?>(nil)
            home.broker.swallow { message in
                guard message.topic == Self.beats, let json = try? JSONValue(parsing: message.payload) else {
                    return false
                }
                // One sample cannot be tried in smaller messages.
                guard json["samples"]?.asArray?.count == 1 else { return false }
                let number = json["seq"]?.asInt
                return swallowed.withLock { first in
                    if first == nil { first = number }
                    return first == number
                }
            }
            try await home.run([try home.device("band"), try home.device("ring")]) {
                try await home.sleep(for: PoisonMessageSplitter.answerLimit * 12)
                let gap = try await home.message("band/event/gap") { $0["reason"]?.asString == "refused" }
                let range = try #require(gap["sequences"]?.asArray?.first)
                #expect(range["from_seq"]?.asInt == swallowed.withLock { $0 })
                #expect(range["to_seq"]?.asInt == swallowed.withLock { $0 })
                try await home.message("band/measurement/heart_rate")
                try await home.message("ring/measurement/heart_rate")
                try await home.message("gateway/state") { $0["quarantined"]?.asInt == 1 }
                let attempts = home.broker.connectionAttempts
                try await home.sleep(for: PoisonMessageSplitter.answerLimit * 4)
                #expect(home.broker.connectionAttempts == attempts)
            }
        }
    }

    @Test func `a broker that acknowledges nothing causes no quarantine`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                home.broker.swallow { _ in true }
                try await home.sleep(for: PoisonMessageSplitter.answerLimit * 12)
                home.broker.swallow(nil)
                try await home.sleep(for: PoisonMessageSplitter.answerLimit * 2)
                #expect(try await home.message("gateway/state")["quarantined"]?.asInt == 0)
            }
        }
    }

    @Test func `an answer at which the broker cuts the connection is given up, and other commands are answered`() throws
    {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.cutAt { $0.topic.hasPrefix("elsewhere/") }
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                for _ in 0..<20 {
                    home.broker.publish(
                        OutgoingMessage(
                            topic: "\(Scenario.base)/band/command/fetch", payload: [], responseTopic: "elsewhere/me"))
                }
                #expect(try await home.ask("band/command/fetch")["status"]?.asString == "done")
                try await home.sleep(for: .minutes(2))
                #expect(home.broker.connectionAttempts < 10)
                let attempts = home.broker.connectionAttempts
                try await home.message("gateway/state") { ($0["dropped"]?["refused"]?.asInt ?? 0) == 20 }
                try await home.sleep(for: .minutes(10))
                #expect(home.broker.connectionAttempts == attempts)
                #expect(try await home.message("gateway/state")["quarantined"]?.asInt == 0)
            }
        }
    }

    private static let info = "\(Scenario.base)/band/info"

    @Test func `a state at which the broker cuts the connection is skipped, and tried again seldom`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.cutAt { $0.topic == Self.info }
            try await home.run([try home.device("band"), try home.device("ring")]) {
                try await home.message("ring/measurement/heart_rate")
                try await home.message("band/measurement/heart_rate")
                try await home.settled("ring")
                try await home.sleep(for: .minutes(2))
                let attempts = home.broker.connectionAttempts
                try await home.sleep(for: .minutes(2))
                #expect(home.broker.connectionAttempts == attempts)
                // Between five and thirty-five minutes there are two more attempts, each of a few cuts: it takes some to find
                // the message among those that were under way.
                try await home.sleep(for: .minutes(26))
                #expect(attempts + 2...attempts + 16 ~= home.broker.connectionAttempts)
            }
        }
    }

    @Test func `a state that was skipped comes once the broker takes it`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.cutAt { $0.topic == Self.info }
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                try await home.sleep(for: .minutes(2))
                #expect(home.observation.messages.allSatisfy { $0.message.topic != Self.info })
                home.broker.cutAt(nil)
                home.broker.cut()
                try await home.sleep(for: RefusedTopics.firstWait + .seconds(30))
                #expect(home.observation.messages.contains { $0.message.topic == Self.info })
            }
        }
    }

    @Test func `a fact that was requested too early can be requested again later`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.cutAt { $0.topic == Self.beats }
            try await home.run([try home.device("band")]) {
                let gap = try await home.message("band/event/gap") { $0["reason"]?.asString == "refused" }
                let number = try #require(gap["sequences"]?.asArray?.first?["from_seq"]?.asInt)
                let members = "\"from_seq\":\(number),\"to_seq\":\(number)"
                for _ in 0..<5 {
                    _ = home.send("gateway/command/replay", members)
                    try await home.sleep(for: .seconds(30))
                }
                home.broker.cutAt(nil)
                try await home.sleep(for: RefusedTopics.firstWait)
                let start = home.position
                _ = try await home.ask("gateway/command/replay", members)
                try await home.message("band/measurement/heart_rate", from: start) { $0["seq"]?.asInt == number }
            }
        }
    }

    @Test func `a subscription at which the broker cuts the connection is skipped, and tried again after a while`()
        throws
    {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            let arrived = Mutex(0)
            for topic in ["phones/anna", "phones/ben"] {
                home.documents.add(topic) { _ in arrived.withLock { $0 += 1 } }
            }
            home.broker.cutAtSubscription("phones/anna")
            try await home.run([try home.device("band"), try home.device("ring")]) {
                try await home.message("band/measurement/heart_rate")
                try await home.sleep(for: .minutes(1))
                let attempts = home.broker.connectionAttempts
                #expect(attempts == DocumentTopics.maximumCuts + 1)
                home.broker.publish(OutgoingMessage(topic: "phones/ben", payload: []))
                try await home.sleep(for: .seconds(1))
                #expect(arrived.withLock { $0 } == 1)
                #expect(try await home.message("gateway/state")["quarantined"]?.asInt == 0)
                #expect(try await home.message("gateway/state")["dropped"]?["refused"] == nil)
                home.broker.cutAtSubscription(nil)
                try await home.sleep(for: RefusedTopics.firstWait)
                home.broker.publish(OutgoingMessage(topic: "phones/anna", payload: []))
                try await home.sleep(for: .seconds(1))
                #expect(arrived.withLock { $0 } == 2)
                #expect(home.broker.connectionAttempts == attempts)
            }
        }
    }

    @Test func `a broker that takes small packets gets all samples, in more messages`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.limitPackets(to: 1_500)
            // The band has records when it is first read.
            try await home.run([]) { try await home.sleep(for: .minutes(10)) }
            try await home.run([try home.device("band")]) {
                try await home.sleep(for: .minutes(2))
                var parts: [Int: Set<Int>] = [:]
                var counts: [Int: Int] = [:]
                for message in home.observation.messages where message.message.topic == Self.beats {
                    let json = try JSONValue(parsing: message.message.payload)
                    let number = try #require(json["seq"]?.asInt)
                    parts[number, default: []].insert(try #require(json["part"]?.asInt))
                    counts[number] = json["parts"]?.asInt
                }
                #expect(counts.values.contains { $0 > 1 })
                for (number, parts) in parts { #expect(parts == Set(1...(counts[number] ?? 0))) }
                #expect(try await home.message("gateway/state")["quarantined"]?.asInt == 0)
                #expect(home.broker.connectionAttempts == 2)
            }
        }
    }

    @Test func `a topic that may not be written quarantines its facts, and a broker that takes nothing waits`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.forbid(Self.beats)
            try await home.run([try home.device("band")]) {
                try await home.message("band/event/gap") { $0["reason"]?.asString == "refused" }
                try await home.sleep(for: .minutes(1))
                #expect(home.broker.connectionAttempts == 1)
                try await home.message("gateway/state") { ($0["quarantined"]?.asInt ?? 0) > 3 }
            }
        }
    }

    @Test func `where the access list allows nothing, facts wait for it`() throws {
        try Scenario.everyOrder(0..<5, deadline: .minutes(40)) { home in
            home.broker.forbid("#")
            try await home.run([try home.device("band")]) {
                try await home.sleep(for: .minutes(5))
                home.broker.allowAll()
                try await home.message("band/measurement/heart_rate")
                try await home.sleep(for: .minutes(1))
                #expect(try await home.message("gateway/state")["quarantined"]?.asInt == 0)
            }
        }
    }
}
