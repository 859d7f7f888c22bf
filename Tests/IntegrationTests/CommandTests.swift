import Foundation
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing

/// Commands and their answers: each command gets exactly one final answer.
@Suite(.timeLimit(.minutes(10)))
struct CommandTests {
    @Test func `what cannot be run is answered, and says why`() async throws {
        try await withBench { bench in
            try await bench.start([bench.execDevice("band")], synced: "band")

            let unknown = try await bench.command("band/command/dance", id: "unknown")
            #expect(unknown["code"]?.asString == "unknown_command")
            #expect(unknown["status"]?.asString == "rejected")

            let start = bench.position
            try await bench.publish("band/command/sync", "{\"id\":")
            #expect(try await bench.message("band/response", from: start).json["code"]?.asString == "bad_json")

            try await bench.publish("nobody/command/sync", #"{"id":"no-device"}"#)
            let nobody = try await bench.answer("no-device", from: start)
            #expect(nobody.topic == "\(Bench.base)/gateway/response")
            #expect(nobody.json["code"]?.asString == "unknown_device")

            let expired = try await bench.command(
                "band/command/sync", id: "too-late", #""expires_at":"2020-01-01T00:00:00Z""#)
            #expect(expired["status"]?.asString == "expired")
            #expect(expired["code"]?.asString == "expired")

            let large = bench.position
            try await bench.publish(
                "band/command/sync", "{\"id\":\"large\",\"padding\":\"\(String(repeating: "x", count: 300_000))\"}")
            #expect(try await bench.message("band/response", from: large).json["code"]?.asString == "too_large")

            let unsupported = try await bench.command("band/command/sync", id: "metric", #""metrics":["temperature"]"#)
            #expect(unsupported["code"]?.asString == "unsupported")
        }
    }

    @Test func `the same id runs once and gets the same answer, also after a restart`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            let first = try await bench.start([bench.execDevice("band", ["--journal", journal])], synced: "band")
            let answer = try await bench.command("band/command/sync", id: "once")
            #expect(answer["status"]?.asString == "done")
            let reads = try Journal(journal).methods.count { $0 == "history/read" }

            #expect(try await bench.command("band/command/sync", id: "once") == answer)
            try await bench.end(first, by: .kill)
            try await bench.gone()
            let restart = bench.position
            _ = bench.startGateway()
            try await bench.synced("band", from: restart)
            #expect(try await bench.command("band/command/sync", id: "once") == answer)
            let other = try await bench.command("band/command/sync", id: "other")
            #expect(other["status"]?.asString == "done")
            // One at the second start, and one for the other command.
            let readsAfter = try Journal(journal).methods.count { $0 == "history/read" }
            #expect(readsAfter == reads + 2)
        }
    }

    @Test func `a retained command is ignored`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            try bench.configure([bench.execDevice("band", ["--journal", journal])])
            // One retained command before the gateway starts, and one while it runs.
            try await bench.publish("band/command/sync", #"{"id":"retained-before"}"#, isRetained: true)
            _ = bench.startGateway()
            try await bench.synced("band")
            try await bench.publish("band/command/fetch", #"{"id":"retained-after"}"#, isRetained: true)
            // The later command is answered; the ignored ones would have been answered before it.
            #expect(try await bench.command("band/command/sync", id: "live")["status"]?.asString == "done")
            let ids = bench.messages("band/response").compactMap { $0.json["id"]?.asString }
            #expect(Set(ids) == ["live"])
        }
    }

    @Test func `answers go to the response topic with the correlation data, but not into the gateway's own tree`()
        async throws
    {
        try await withBench { bench in
            try await bench.start([bench.execDevice("band")], synced: "band")
            let start = bench.position
            try await bench.publish(
                "band/command/sync", #"{"id":"asked"}"#, responseTopic: "clients/me/response", correlation: "token-7")
            let answer = try await bench.answer("asked", from: start)
            #expect(answer.topic == "clients/me/response")
            #expect(answer.correlationData == Array("token-7".utf8))
            #expect(answer.json["status"]?.asString == "done")

            try await bench.publish(
                "band/command/sync", #"{"id":"intruder"}"#, responseTopic: "\(Bench.base)/gateway/status")
            let refused = try await bench.answer("intruder", from: start)
            #expect(refused.topic == "\(Bench.base)/band/response")
            #expect(refused.json["status"]?.asString == "rejected")
            #expect(refused.json["code"]?.asString == "invalid")
        }
    }

    @Test func `a command to an offline device fails, but one that may wait is run later`() async throws {
        try await withBench { bench in
            let port = try freePort()
            try bench.configure([bench.tcpDevice("band", port: port)])
            _ = bench.startGateway()
            try await bench.message("band/link") { $0.json["state"]?.asString == "waiting" }
            let offline = try await bench.command("band/command/sync", id: "now")
            #expect(offline["status"]?.asString == "failed")
            #expect(offline["code"]?.asString == "offline")

            let start = bench.position
            let later = ISO8601DateFormatter().string(from: Date().addingTimeInterval(600))
            try await bench.publish("band/command/sync", "{\"id\":\"patient\",\"expires_at\":\"\(later)\"}")
            _ = bench.programs.start("python3", [Repository.device, "--tcp", "127.0.0.1:\(port)"])
            #expect(try await bench.answer("patient", from: start).json["status"]?.asString == "done")
        }
    }
}
