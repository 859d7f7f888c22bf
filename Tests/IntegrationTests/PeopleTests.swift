import JSON
import MQTT
import TestSupport
import Testing

/// The persons of values, from the device's user slots to a consumer.
@Suite(.timeLimit(.minutes(10)))
struct PeopleTests {
    private func cuff(_ people: String) -> String {
        "{id: cuff, driver: simulator, options: {model: cuff, seed: 3, history_days: 20}, person: carla, "
            + "people: \(people)}"
    }

    /// The persons of blood pressure messages from `start` on, and of the samples in them.
    private func people(_ bench: Bench, from start: Int = 0) -> [String: Set<String>] {
        var result: [String: Set<String>] = [:]
        for message in bench.messages("cuff/measurement/blood_pressure", from: start).map(\.json) {
            let person = message["person"]?.asString ?? "nobody"
            result[person, default: []].formUnion((message["samples"]?.asArray ?? []).compactMap { $0["id"]?.asString })
        }
        return result
    }

    @Test func `a slot is its person's, one that nobody was given is nobody's, and both can change`() async throws {
        try await withBench { bench in
            try await bench.start([cuff("{1: anna}")], synced: "cuff")
            let info = try await bench.message("cuff/info")
            #expect(info.json["person"]?.asString == "carla")
            #expect(info.json["people"] == ["1": "anna"])
            try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                messages.count { $0.topic.hasSuffix("/cuff/measurement/blood_pressure") } >= 2
            }
            let before = people(bench)
            #expect(Set(before.keys) == ["anna", "nobody"])
            let anna = try #require(before["anna"])
            let guest = try #require(before["nobody"])
            #expect(anna.count > 10 && guest.count > 10 && anna.isDisjoint(with: guest))
            // The newest value belongs to the person who used the cuff last.
            let latest = try await bench.message("cuff/latest/blood_pressure").json
            let id = try #require(latest["id"]?.asString)
            #expect(latest["person"]?.asString == (anna.contains(id) ? "anna" : nil))
            #expect(anna.contains(id) || guest.contains(id))

            try bench.configure([cuff("{1: anna, 2: ben}")])
            let start = bench.position
            let answer = try await bench.command("gateway/command/reload", id: "reload")
            #expect(answer["data"]?["changed"] == ["cuff"])
            try await bench.message("cuff/info", from: start) { $0.json["people"] == ["1": "anna", "2": "ben"] }
            let again = bench.position
            try await bench.command("gateway/command/replay", id: "replay", "\"from_seq\":1,\"to_seq\":1000")
            try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                messages.dropFirst(again).count { $0.topic.hasSuffix("/cuff/measurement/blood_pressure") } >= 2
            }
            let after = people(bench, from: again)
            #expect(after == ["anna": anna, "ben": guest])
            let kept = try await bench.command(
                "cuff/command/history", id: "kept", #""metric":"blood_pressure","limit":500"#)
            let owners = Dictionary(grouping: kept["data"]?["samples"]?.asArray ?? []) {
                $0["person"]?.asString ?? "nobody"
            }
            #expect(owners.mapValues { Set($0.compactMap { $0["id"]?.asString }) } == after)
        }
    }

    @Test func `an alert names the person of the value`() async throws {
        try await withBench { bench in
            try await bench.start([cuff("{1: anna, 2: ben}")], synced: "cuff")
            let set = try await bench.command(
                "cuff/config/set", id: "limit",
                #""blood_pressure":{"alert":{"enabled":true,"systolic_lower":20,"systolic_upper":30}}"#)
            #expect(set["status"]?.asString == "done")
            let start = bench.position
            // The cuff assigns measurements on demand to the first slot.
            try await bench.publish("cuff/command/measure", #"{"metric":"blood_pressure"}"#)
            let event = try await bench.message("cuff/event/alert", from: start)
            #expect(event.json["rule"]?.asString == "blood_pressure_systolic_high")
            #expect(event.json["person"]?.asString == "anna")
            let sample = try await bench.message("cuff/measurement/blood_pressure", from: start)
            #expect(sample.json["person"]?.asString == "anna")
            #expect(sample.json["samples"]?[0]?["id"] == event.json["sample_id"])
        }
    }

    @Test func `an alert that a person has seen is so for all, also after a kill, until it is cleared`() async throws {
        try await withBench { bench in
            let gateway = try await bench.start([cuff("{1: anna, 2: ben}")], synced: "cuff")
            let topic = "cuff/alert/blood_pressure_systolic_high"
            try await bench.command(
                "cuff/config/set", id: "limit",
                #""blood_pressure":{"alert":{"enabled":true,"systolic_lower":20,"systolic_upper":30}}"#)
            try await bench.publish("cuff/command/measure", #"{"metric":"blood_pressure"}"#)
            let raised = try await bench.message(topic) { $0.json["state"] == "active" }.json
            #expect(raised["person"] == "anna" && raised["acknowledged_by"]?.isNull == true)
            let edge = try #require(raised["last_id"]?.asString)

            let seen = try await bench.command("cuff/command/acknowledge", id: edge, #""by":"dora""#)
            #expect(seen["status"] == "done" && seen["data"]?["acknowledged_by"] == "dora")
            let other = try await bench.command("cuff/command/acknowledge", id: edge, #""by":"ben""#)
            #expect(other["status"] == "done" && other["data"] == seen["data"])
            #expect(other["message"] == "dora has acknowledged it before.")
            try await bench.message(topic) { $0.json["acknowledged_by"] == "dora" }
            try await bench.end(gateway, by: .kill)
            try await bench.gone()

            let start = bench.position
            _ = bench.startGateway()
            let kept = try await bench.message(topic, from: start).json
            #expect(kept["acknowledged_at"] == seen["data"]?["acknowledged_at"] && kept["last_id"] == raised["last_id"])
            try await bench.connected("cuff", from: start)
            try await bench.command(
                "cuff/config/set", id: "off", #""blood_pressure":{"alert":{"enabled":false}}"#)
            let cleared = try await bench.message(topic, from: start) { $0.json["state"] == "ok" }.json
            #expect(cleared["acknowledged_by"]?.isNull == true)
            let late = try await bench.command("cuff/command/acknowledge", id: edge, #""by":"carla""#)
            #expect(late["status"] == "rejected" && late["code"] == "conflict")
        }
    }
}
