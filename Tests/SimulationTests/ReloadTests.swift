import Gateway
import GatewayKit
import GatewayTesting
import JSON
import Logging
import MQTT
import TestSupport
import Testing
import Vitals

/// A configuration that changes while the gateway runs, in many orders of events.
@Suite struct ReloadTests {
    private static let seeds: Range<UInt64> = 0..<10

    private func names(_ answer: JSONValue, _ kind: String) -> [String] {
        (answer["data"]?[kind]?.asArray ?? []).compactMap(\.asString)
    }

    private static let discovery = "homeassistant/device/vitals2mqtt_home"

    @Test func `what is added or changed is connected, and the link of the others holds`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let band = try home.device("band")
            try await home.run([band, try home.device("ring")]) {
                try await home.settled("band")
                try await home.settled("ring")
                home.write(
                    .success([
                        band, try home.device("ring", name: "Ben's ring"), try home.device("cuff", driver: "other"),
                    ]))
                let start = home.position
                let answer = try await home.ask("gateway/command/reload")
                #expect(answer["status"]?.asString == "done")
                #expect(names(answer, "added") == ["cuff"])
                #expect(names(answer, "changed") == ["ring"])
                #expect(names(answer, "removed") == [])
                try await home.settled("cuff", from: start)
                // The new name appears everywhere.
                try await home.message("ring/info", from: start) { $0["name"]?.asString == "Ben's ring" }
                try await home.message("\(Self.discovery)_ring/config", from: start) {
                    $0["device"]?["name"]?.asString == "Ben's ring"
                }
                let info = try await home.message("gateway/info", from: start)
                #expect(info["devices"] == ["band", "cuff", "ring"])
                #expect(info["plugins"] == ["other", "simulated"])
                // Live data continues, over the same connection.
                let later = home.position
                try await home.message("band/measurement/heart_rate", from: later)
                try await home.message("ring/measurement/heart_rate", from: later)
                #expect(home.connections(of: "band") == 1)
                #expect(home.connections(of: "ring") == 2)
                #expect(home.connections(of: "cuff") == 1)
            }
        }
    }

    @Test func `the log says what a changed configuration adds, changes and removes, or that no device has changed`()
        throws
    {
        try Scenario.everyOrder(0..<3) { home in
            let band = try home.device("band")
            try await home.run([band, try home.device("ring"), try home.device("cuff")]) {
                try await home.settled("band")
                let core = try #require(home.core)
                let scale = try home.device("scale", wearable: "cuff")
                home.write(.success([band, try home.device("ring", name: "Ben's ring"), scale]))
                try await core.applyReload()
                try await core.applyReload()
                let lines = home.log.entries.filter { $0.message.hasPrefix("The configuration is applied.") }
                #expect(lines.map(\.level) == [.info, .info])
                #expect(lines.first?.metadata == ["added": "scale", "changed": "ring", "removed": "cuff"])
                #expect(lines.last?.message == "The configuration is applied. No device has changed.")
            }
        }
    }

    @Test func `of a removed device nothing is left, and one with a new id is another device`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let band = try home.device("band")
            try await home.run([band, try home.device("ring")]) {
                try await home.settled("band")
                try await home.settled("ring")
                // Waits for all kinds of topics: alerts and days come with values.
                try await home.message("ring/latest/heart_rate")
                try await home.message("ring/daily/heart_rate")
                try await home.message("ring/latest/blood_pressure")
                _ = try await home.ask(
                    "ring/config/set",
                    #""heart_rate":{"resting_alert":{"enabled":true,"lower":20,"upper":51}}"#)
                try await home.message("ring/alert/heart_rate_resting_high")
                let kinds = Set(home.retained(about: "ring").map { $0.split(separator: "/").map(String.init)[3] })
                #expect(
                    kinds == [
                        "info", "availability", "link", "latest", "daily", "alert", "config", "sync", "measure", "wear",
                    ])

                home.write(.success([band, try home.device("ring-2", wearable: "ring")]))
                let start = home.position
                let answer = try await home.ask("gateway/command/reload")
                #expect(names(answer, "added") == ["ring-2"])
                #expect(names(answer, "removed") == ["ring"])
                try await home.settled("ring-2", from: start)
                try await home.sleep(for: .seconds(5))
                #expect(home.retained(about: "ring") == [])
                #expect(home.retained(about: "ring-2").count > 8)
                #expect(home.connections(of: "band") == 1)

                // Cleared topics stay empty after the next connection to the broker.
                home.broker.cut("gateway")
                try await home.message("ring-2/info", from: home.position)
                try await home.sleep(for: .minutes(5))
                #expect(home.retained(about: "ring") == [])
            }
        }
    }

    @Test func `a refused configuration changes nothing, and the answer, the log and the state report it`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let band = try home.device("band")
            try await home.run([band]) {
                try await home.settled("band")
                let issues = [
                    Violation(path: "devices[0].driver", message: "line 3: There is no driver x."),
                    Violation(path: "mqtt.url", message: "line 9: No."),
                ]
                home.write(.failure(ReloadRefusal("3: There is no driver x. (and 1 more)", violations: issues)))
                let start = home.position
                let answer = try await home.ask("gateway/command/reload")
                #expect(answer["status"]?.asString == "failed")
                #expect(answer["code"]?.asString == "invalid")
                #expect(
                    answer["violations"]?.asArray?.map { $0["path"]?.asString } == ["devices[0].driver", "mqtt.url"])
                try await home.message("gateway/state", from: start) {
                    $0["last_error"]?.asString?.contains("There is no driver x.") ?? false
                }
                #expect(
                    home.log.entries.contains {
                        $0.level == .error && $0.metadata["error"]?.contains("no driver x") ?? false
                    })
                let later = home.position
                try await home.message("band/measurement/heart_rate", from: later)
                #expect(home.connections(of: "band") == 1)

                home.write(.success([band]))
                let again = home.position
                #expect(try await home.ask("gateway/command/reload")["status"]?.asString == "done")
                try await home.message("gateway/state", from: again) { $0["last_error"] == .null }
                #expect(home.connections(of: "band") == 1)
            }
        }
    }

    @Test func `two reloads at once are applied one after the other`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            try await home.run([try home.device("band"), try home.device("ring")]) {
                try await home.settled("band")
                try await home.settled("ring")
                home.write(.success([try home.device("band"), try home.device("ring", name: "Ben's ring")]))
                let ids = [home.send("gateway/command/reload"), home.send("gateway/command/reload")]
                var changed: [[String]] = []
                for id in ids {
                    let answer = try await home.answer(id)
                    changed.append(names(answer, "changed"))
                    #expect(names(answer, "added") == [] && names(answer, "removed") == [])
                }
                #expect(changed.sorted { $0.count < $1.count } == [[], ["ring"]])
                try await home.sleep(for: .seconds(10))
                #expect(home.connections(of: "ring") == 2)
            }
        }
    }

    @Test func `a reload that comes with the start is applied after it`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            home.write(
                .success([
                    try home.device("band", name: "Anna's band"), try home.device("ring"), try home.device("cuff"),
                ]))
            let first = [try home.device("band"), try home.device("ring")]
            try await home.run(first, reloadingAtOnce: true) {
                for name in Scenario.names { try await home.settled(name) }
                try await home.message("band/info") { $0["name"]?.asString == "Anna's band" }
                let info = home.broker.retained("\(Scenario.base)/gateway/info").first
                let devices = try JSONValue(parsing: try #require(info).payload)["devices"]
                #expect(devices == ["band", "cuff", "ring"])
            }
        }
    }

    @Test func `a device that is being changed is not unknown to commands`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            try await home.run([try home.device("ring")]) {
                try await home.settled("ring")
                home.write(.success([try home.device("ring", name: "Ben's ring")]))
                let reload = home.send("gateway/command/reload")
                for _ in 0..<20 {
                    let answer = try await home.ask("ring/command/history", #""metric":"heart_rate""#)
                    #expect(answer["code"]?.asString == nil || answer["code"]?.asString == "offline", "\(answer)")
                    try await home.sleep(for: .milliseconds(5))
                }
                #expect(try await home.answer(reload)["status"]?.asString == "done")
            }
        }
    }

    @Test func `how long values are fresh can be changed, and Home Assistant hears of it`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            try await home.run([try home.device("band"), try home.device("ring")]) {
                try await home.settled("band")
                try await home.settled("ring")
                let topic = "\(Self.discovery)_band/config"
                #expect(try await home.message(topic)["components"]?["heart_rate"]?["expire_after"]?.asInt == 1800)
                home.write(.success([try home.device("band", freshFor: .minutes(2)), try home.device("ring")]))
                let start = home.position
                #expect(names(try await home.ask("gateway/command/reload"), "changed") == ["band"])
                try await home.message(topic, from: start) {
                    $0["components"]?["heart_rate"]?["expire_after"]?.asInt == 120
                }
                try await home.message("band/latest/heart_rate", from: start) { latest in
                    guard let until = latest["fresh_until"]?.asString, let end = latest["measured_at"]?.asString,
                        let from = Timestamp(rfc3339: end), let to = Timestamp(rfc3339: until)
                    else { return false }
                    return to - from == .minutes(2)
                }
                #expect(home.connections(of: "ring") == 1)
            }
        }
    }

    @Test func `a replay of more than a connection carries at once arrives, and nothing waits for it`() throws {
        try Simulation.run(seed: 1, deadline: .hours(12)) { simulation in
            let home = try Scenario(simulation)
            try await home.run(try Scenario.names.map { try home.device($0) }) {
                for name in Scenario.names { try await home.settled(name) }
                var last = 0
                while last < 1_500 {
                    try await simulation.gatewayClock.sleep(for: .minutes(1))
                    last = home.observation.messages.suffix(50).compactMap { $0.json["seq"]?.asInt }.max() ?? last
                }
                let start = home.position
                let answer = try await home.ask("gateway/command/replay", "\"from_seq\":1,\"to_seq\":\(last)")
                #expect(answer["status"]?.asString == "done")
                let count = answer["data"]?["replayed"]?.asInt ?? 0
                #expect(count > 1_400)
                try await simulation.gatewayClock.sleep(for: .minutes(1))
                let numbers = home.observation.messages.dropFirst(start)
                    .filter { $0.json["source"]?.asString == "replay" }.compactMap { $0.json["seq"]?.asInt }
                #expect(numbers.count > 1_000 && numbers == numbers.sorted() && Set(numbers).count == numbers.count)
                try await home.message("band/measurement/heart_rate", from: home.position)
            }
        }
    }

    @Test func `a device that comes back under the id of a removed one gives none of its answers and states`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let band = try home.device("band")
            try await home.run([band, try home.device("ring")]) {
                try await home.settled("band")
                try await home.settled("ring")
                let command = OutgoingMessage(
                    topic: "\(Scenario.base)/ring/command/history",
                    payload: Array(#"{"id":"h1","metric":"heart_rate"}"#.utf8))
                home.broker.publish(command)
                let first = try await home.message("ring/response")
                #expect(first["status"] == "done")
                home.write(.success([band]))
                let removal = try await home.ask("gateway/command/reload")
                #expect(names(removal, "removed") == ["ring"])
                home.write(.success([band, try home.device("ring", wearable: "cuff")]))
                let start = home.position
                let addition = try await home.ask("gateway/command/reload")
                #expect(names(addition, "added") == ["ring"])
                try await home.settled("ring", from: start)
                home.broker.publish(command)
                let second = try await home.message("ring/response", from: start)
                #expect(second["status"] == "done")
                #expect(second["at"] != first["at"], "It is the former device's answer.")
                // What the former one said is gone before the new one says something.
                let topics = home.observation.messages.dropFirst(start).filter { $0.message.payload.isEmpty }
                    .map(\.message.topic)
                for name in ["info", "config", "latest/heart_rate", "alert/heart_rate_resting_high"] {
                    #expect(topics.contains("\(Scenario.base)/ring/\(name)"), "\(name)")
                }
                #expect(home.broker.retained("\(Scenario.base)/ring/info").count == 1)
            }
        }
    }
}

extension PublishedMessage {
    fileprivate var json: JSONValue { (try? JSONValue(parsing: message.payload)) ?? .null }
}
