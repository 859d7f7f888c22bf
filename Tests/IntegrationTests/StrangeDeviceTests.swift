import GatewayTesting
import JSON
import TestSupport
import Testing

/// What a consumer sees of a device that behaves unusually.
@Suite(.timeLimit(.minutes(10)))
struct StrangeDeviceTests {
    private func withStrangeDevice(_ body: (Bench) async throws -> Void) async throws {
        try await withBench { bench in
            let script = Repository.fixture("strange_device.py")
            try await bench.start(
                [
                    "{id: strange, name: strange, driver: link, transport: {type: exec, command: [\"python3\", \"\(script)\"]}}",
                    "{id: offline, name: offline, driver: link, transport: {type: tcp, host: 127.0.0.1, port: 9}}",
                ], synced: "strange")
            try await body(bench)
        }
    }

    @Test func `records that cannot be true are counted and reported once, and what follows is read`() async throws {
        try await withStrangeDevice { bench in
            let sync = try await bench.message("strange/sync") { $0.json["last_success_at"]?.asString != nil }
            let row = try #require(sync.json["metrics"]?.asArray?.first { $0["metric"]?.asString == "heart_rate" })
            #expect(row["state"]?.asString == "done")
            #expect((row["new"]?.asInt, row["refused"]?.asInt) == (1, 2_000))
            #expect(row["refused_by_reason"] == ["out_of_range": 2_000])
            #expect(sync.json["error"]?.isNull == true)
            let gap = try await bench.message("strange/event/gap")
            #expect((gap.json["reason"]?.asString, gap.json["count"]?.asInt) == ("refused", 2_000))
            #expect(gap.json["refused"] == ["out_of_range": 2_000])
            #expect(try await bench.message("strange/latest/heart_rate").json["value"]?.asDouble == 61)

            let start = bench.position
            let again = try await bench.command("strange/command/sync", id: "s", #""metrics":["heart_rate","sleep"]"#)
            #expect(again["status"]?.asString == "done")
            let states = again["data"]?["metrics"]?.asArray?.compactMap { $0["state"]?.asString }
            #expect(states == ["done", "unsupported"])
            let all = try await bench.command("gateway/command/sync", id: "all")
            #expect(all["status"]?.asString == "done")
            #expect(all["data"]?["devices"]?["strange"]?["status"]?.asString == "done")
            #expect(all["data"]?["devices"]?["offline"]?["code"]?.asString == "offline")
            #expect(bench.messages("strange/event/gap", from: start).isEmpty)
        }
    }

    @Test func `what it says of itself is published`() async throws {
        try await withStrangeDevice { bench in
            try await bench.message("strange/wear") {
                $0.json["worn"]?.asBool == true && $0.json["charging"]?.asBool == false
            }
            try await bench.message("strange/link") { $0.json["rssi"]?.asInt == -61 }
        }
    }

    @Test func `a measurement without a good reading has failed, and a stop says whether it stopped`() async throws {
        try await withStrangeDevice { bench in
            let start = bench.position
            try await bench.publish("strange/command/measure", #"{"id":"m","metric":"temperature","duration_s":600}"#)
            try await bench.message("strange/measure", from: start) { $0.json["state"]?.asString == "measuring" }
            let stuck = try await bench.command("strange/command/measure", id: "s", #""action":"stop""#)
            #expect((stuck["status"]?.asString, stuck["code"]?.asString) == ("failed", "busy"))
            #expect(stuck["message"]?.asString == "It is stuck.")

            // A new connection ends the measurement.
            let before = bench.position
            try await bench.command("strange/command/reconnect", id: "r")
            #expect(try await bench.answer("m", from: start).json["code"]?.asString == "offline")
            try await bench.synced("strange", from: before)
            let measured = try await bench.command("strange/command/measure", id: "n", #""metric":"stress""#)
            #expect((measured["status"]?.asString, measured["code"]?.asString) == ("failed", "not_worn"))
            #expect(measured["message"]?.asString == "Put it on.")
            let reported = try await bench.message("strange/measure", from: before) {
                $0.json["state"]?.asString == "failed" && $0.json["metric"]?.asString == "stress"
            }
            #expect(reported.json["refused"]?.asInt == 1)

            try await bench.publish("strange/command/measure", #"{"id":"o","metric":"temperature","duration_s":600}"#)
            try await bench.message("strange/measure", from: before) {
                $0.json["state"]?.asString == "measuring" && $0.json["metric"]?.asString == "temperature"
            }
            let stopped = try await bench.command("strange/command/measure", id: "p", #""action":"stop""#)
            #expect(stopped["status"]?.asString == "done")
            let next = try await bench.command("strange/command/measure", id: "q", #""metric":"stress""#)
            #expect(next["code"]?.asString == "not_worn")
        }
    }

    @Test func `a change that is cut off, and a configuration that is read in part, say so`() async throws {
        try await withStrangeDevice { bench in
            let fetched = try await bench.command("strange/command/fetch", id: "f")
            #expect((fetched["status"]?.asString, fetched["code"]?.asString) == ("failed", "busy"))
            #expect(fetched["data"]?["blood_oxygen"]?["schedule"]?["start"]?.asString == "08:00")
            #expect(fetched["data"]?["stress"] == nil)

            let start = bench.position
            let set = try await bench.command(
                "strange/config/set", id: "c", #""blood_oxygen":{"schedule":{"start":"09:00"}}"#)
            #expect((set["status"]?.asString, set["code"]?.asString) == ("done", "disconnected"))
            let path = "blood_oxygen.schedule.start"
            #expect(set["data"]?["pending"]?.asArray?.contains(.string(path)) == true)
            #expect(try await bench.message("strange/config", from: start).json["reported"]?[path]?.asString == "08:00")
        }
    }
}
