import GatewayTesting
import JSON
import TestSupport
import Testing

/// The monitoring configuration, from a consumer to the device and back.
@Suite(.timeLimit(.minutes(10)))
struct MonitoringTests {
    @Test func `a new limit is pending, is written to the device, read back, and then confirmed`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            let state = bench.path("state.json")
            try bench.configure([bench.execDevice("band", ["--journal", journal, "--state", state])])
            _ = bench.startGateway()
            try await bench.message("band/config") { ($0.json["version"]?.asInt ?? 0) > 0 }
            try await bench.synced("band")

            let start = bench.position
            try await bench.publish("band/config/set", #"{"id":"c-1","heart_rate":{"resting_alert":{"upper":97}}}"#)
            let isPending = "heart_rate.resting_alert.upper"
            let pending = try await bench.message("band/config", from: start) {
                $0.json["pending"]?.asArray?.contains(.string(isPending)) ?? false
            }
            #expect(pending.json["heart_rate"]?["resting_alert"]?["upper"]?.asInt == 97)
            let confirmed = try await bench.message("band/config", from: start) {
                $0.json["pending"]?.asArray?.isEmpty ?? false && $0.json["version"] == pending.json["version"]
            }
            #expect(confirmed.json["reported_version"] == confirmed.json["version"])
            #expect(confirmed.json["error"]?.isNull ?? false)
            let answer = try await bench.answer("c-1", from: start)
            #expect(answer.json["status"]?.asString == "done")

            let calls = try Journal(journal)
            let written = try #require(calls.last("monitor/write"))
            #expect(written["configuration"]?["resting_alert"]?["upper"]?.asInt == 97)
            let methods = calls.methods
            let write = try #require(methods.lastIndex(of: "monitor/write"))
            #expect(methods[write...].contains("monitor/read"), "It is read back.")
            #expect(try Journal.file(state)["resting_alert"]?["upper"]?.asInt == 97)
        }
    }

    @Test func `a patch with two errors changes nothing, names both, and shows the configuration again`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            try bench.configure([bench.execDevice("band", ["--journal", journal])])
            _ = bench.startGateway()
            let before = try await bench.message("band/config") { ($0.json["version"]?.asInt ?? 0) > 0 }
            try await bench.synced("band")

            let start = bench.position
            try await bench.publish(
                "band/config/set",
                #"{"id":"c-2","heart_rate":{"resting_alert":{"upper":999},"schedule":{"interval_min":7}}}"#)
            let answer = try await bench.answer("c-2", from: start)
            #expect(answer.json["status"]?.asString == "rejected")
            #expect(answer.json["code"]?.asString == "invalid")
            let paths = (answer.json["violations"]?.asArray ?? []).compactMap { $0["path"]?.asString }
            #expect(Set(paths) == ["heart_rate.resting_alert.upper", "heart_rate.schedule.interval_min"])
            let again = try await bench.message("band/config", from: start)
            #expect(again.json["heart_rate"] == before.json["heart_rate"])
            #expect(again.json["version"] == before.json["version"])
            #expect(again.json["pending"]?.asArray?.isEmpty ?? false)
            #expect(try Journal(journal).last("monitor/write") == nil)
        }
    }
}
