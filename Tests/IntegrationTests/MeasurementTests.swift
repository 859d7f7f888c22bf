import JSON
import MQTT
import TestSupport
import Testing

/// Measurements on command, and queries of the store.
@Suite(.timeLimit(.minutes(10)))
struct MeasurementTests {
    @Test func `a measurement's samples arrive, and both who asked with the same id get the answer`() async throws {
        try await withBench { bench in
            try await bench.start([bench.execDevice("band", ["--interval", "0.4"])], synced: "band")
            let start = bench.position
            let command = #"{"id":"m-1","metric":"heart_rate","action":"start","duration_s":30}"#
            try await bench.publish("band/command/measure", command, responseTopic: "clients/a")
            try await bench.message("band/measure", from: start) { $0.json["state"]?.asString == "measuring" }
            try await bench.publish("band/command/measure", command, responseTopic: "clients/b")
            let isFinal: @Sendable (JSONValue) -> Bool = { $0["status"]?.asString != "accepted" }
            let messages = try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                ["clients/a", "clients/b"].allSatisfy { topic in
                    messages.contains { $0.topic == topic && isFinal($0.json) }
                }
            }
            let answers = messages.filter { $0.topic.hasPrefix("clients/") && isFinal($0.json) }.map(\.json)
            #expect(answers.count == 2)
            #expect(answers.allSatisfy { $0["status"]?.asString == "done" && $0["id"]?.asString == "m-1" })
            try await bench.message("band/measure", from: start) { $0.json["state"]?.asString == "ended" }
            let measured = try await bench.message("band/measurement/heart_rate", from: start) {
                $0.json["source"]?.asString == "measure"
            }
            #expect(measured.json["samples"]?[0]?["user_initiated"]?.asBool == true)
            let latest = try await bench.message("band/latest/heart_rate", from: start) {
                $0.json["value"]?.asDouble != nil
            }
            #expect(latest.json["user_initiated"]?.asBool == true)
        }
    }

    @Test func `a limit that is set over MQTT raises an alert when a measurement is beyond it`() async throws {
        try await withBench { bench in
            try await bench.start([bench.execDevice("band", ["--interval", "0.2"])], synced: "band")
            let set = try await bench.command(
                "band/config/set", id: "limit", #""heart_rate":{"resting_alert":{"enabled":true,"upper":80}}"#)
            #expect(set["status"]?.asString == "done")
            let start = bench.position
            try await bench.publish(
                "band/command/measure", #"{"metric":"heart_rate","action":"start","duration_s":30}"#)
            let event = try await bench.message("band/event/alert", from: start)
            #expect(event.json["event_type"]?.asString == "heart_rate_resting_high")
            #expect(event.json["edge"]?.asString == "raised")
            #expect(event.json["limit"]?.asInt == 80)
            #expect(event.json["origin"]?.asString == "gateway")
            #expect(!event.isRetained)
            let level = try await bench.message("band/alert/heart_rate_resting_high", from: start) {
                $0.json["state"]?.asString == "active"
            }
            #expect(level.json["last_id"] == event.json["id"])
            try await bench.message("band/measure", from: start) { $0.json["state"]?.asString == "ended" }
            #expect(bench.messages("band/event/alert", from: start).count == 1)
        }
    }

    @Test func `history and daily answer from the store what the device had`() async throws {
        try await withBench { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            try await bench.start([bench.execDevice("band")], synced: "band")
            var arrived: [String: JSONValue] = [:]
            var page = ""
            for number in 1...20 {
                let answer = try await bench.command(
                    "band/command/history", id: "page-\(number)",
                    #""metric":"heart_rate","from":"2016-11-24T00:00:00Z","to":"2016-11-25T00:00:00Z","limit":25"#
                        + page)
                #expect(answer["status"]?.asString == "done")
                for sample in answer["data"]?["samples"]?.asArray ?? [] {
                    #expect(arrived.updateValue(sample, forKey: sample["id"]?.asString ?? "") == nil)
                }
                guard let next = answer["data"]?["next"], !next.isNull else { break }
                page = ",\"page\":\(String(decoding: next.bytes, as: UTF8.self))"
            }
            expected.check(arrived)

            let days = try await bench.command(
                "band/command/daily", id: "days",
                #""metric":"heart_rate","from_day":"2016-11-24","to_day":"2016-11-24""#)
            let day = try #require(days["data"]?["days"]?[0])
            let values = expected.samples.values.compactMap { $0["value"]?.asDouble }
            #expect(day["count"]?.asInt == 68)
            #expect(day["maximum"]?["value"]?.asDouble == values.max())
            #expect(day["minimum"]?["value"]?.asDouble == values.min())
            let average = values.reduce(0, +) / 68
            #expect(day["average"]?.asDouble == (average * 10).rounded() / 10)
        }
    }
}
