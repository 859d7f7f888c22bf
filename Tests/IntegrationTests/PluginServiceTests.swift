import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// Devices that share a service of their plugin, in the whole gateway.
@Suite(.timeLimit(.minutes(10)))
struct PluginServiceTests {
    /// Writes an export, with heart rates by minutes.
    private func export(_ rates: [String], as name: String, on bench: Bench) async throws {
        let program = bench.programs.start(
            "python3", [Repository.fixture("gadgetbridge_export.py"), bench.path(name)] + rates)
        try await program.end(within: Bench.timeout)
    }

    /// The heart rates that arrived, by start, each with its newest revision.
    private func rates(_ bench: Bench) -> [String: (value: Int?, revision: Int)] {
        var rates: [String: (value: Int?, revision: Int)] = [:]
        for sample in bench.messages("band/measurement/heart_rate").flatMap({ $0.json["samples"]?.asArray ?? [] }) {
            guard let start = sample["start"]?.asString, let revision = sample["rev"]?.asInt else { continue }
            if revision >= rates[start]?.revision ?? 0 { rates[start] = (sample["value"]?.asInt, revision) }
        }
        return rates
    }

    @Test func `an export becomes history, and a changed one is read when it appears`() async throws {
        try await withBench { bench in
            try FileManager.default.createDirectory(atPath: bench.path("phone"), withIntermediateDirectories: false)
            try await export(["0=61", "1=62", "2=255"], as: "phone/Gadgetbridge.db", on: bench)
            // Only the system's events can report a new export in time.
            try await bench.start(
                ["{id: band, driver: gadgetbridge, options: {path: phone}}"],
                plugins: "{gadgetbridge: {poll_interval: 1h}}", synced: "band")
            try await bench.message("band/info") { $0.json["model"]?.asString == "MIBAND7" }
            let first = rates(bench)
            #expect(first.mapValues(\.value) == ["2026-01-05T12:00:00.000Z": 61, "2026-01-05T12:01:00.000Z": 62])

            // A minute was corrected, and one was added.
            try await export(["0=61", "1=64", "2=255", "3=65"], as: "phone/Gadgetbridge.db", on: bench)
            try await bench.message("band/measurement/heart_rate") { message in
                (message.json["samples"]?.asArray ?? []).contains {
                    $0["start"]?.asString == "2026-01-05T12:03:00.000Z"
                }
            }
            let second = rates(bench)
            #expect(
                second.mapValues(\.value) == [
                    "2026-01-05T12:00:00.000Z": 61, "2026-01-05T12:01:00.000Z": 64, "2026-01-05T12:03:00.000Z": 65,
                ])
            #expect(second.mapValues(\.revision)["2026-01-05T12:00:00.000Z"] == 1)
            #expect(second.mapValues(\.revision)["2026-01-05T12:01:00.000Z"] == 2)
        }
    }

    @Test func `a device that calls is synchronised, and a wrong secret is not let in`() async throws {
        try await withBench { bench in
            let port = try freePort()
            try "the right one\n".write(toFile: bench.path("token"), atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bench.path("token"))
            try bench.configure(
                ["{id: strap, driver: link, transport: {type: tcp, listen: true, token: {file: token}}}"],
                plugins: "{tcp: {listen: \"127.0.0.1:\(port)\"}}")
            let gateway = bench.startGateway()
            try await bench.message("strap/link") { $0.json["state"]?.asString == "connecting" }
            let program = ["python3", Repository.device, Repository.heartRates]
            func call(_ token: String) -> ChildProgram {
                bench.programs.start(
                    "python3", [Repository.fixture("calling_device.py"), "\(port)", "strap", token] + program)
            }
            let stranger = call("a wrong one")
            try await stranger.end(within: Bench.timeout)
            #expect(gateway.events.elements.contains { $0.text.contains("A call was refused.") })
            // After the wrong one, its address waits a second; the device tries until it is let in.
            let start = bench.position
            var device = call("the right one")
            while bench.messages("strap/link", from: start).allSatisfy({ $0.json["state"]?.asString != "connected" }) {
                let isOver = (try? await device.end(within: .milliseconds(500))) != nil
                if isOver { device = call("the right one") }
            }
            try await bench.synced("strap")
            let expected = try await HeartRates(of: "strap", on: bench)
            var arrived: [String: JSONValue] = [:]
            for sample in bench.messages("strap/measurement/heart_rate").flatMap({ $0.json["samples"]?.asArray ?? [] })
            {
                if let id = sample["id"]?.asString { arrived[id] = sample }
            }
            expected.check(arrived)
            // The end of the device is detected, and its next call is taken.
            let again = bench.position
            device.interrupt(.kill)
            try await device.end(within: Bench.timeout)
            try await bench.message("strap/link", from: again) { $0.json["state"]?.asString == "waiting" }
            _ = call("the right one")
            try await bench.connected("strap", from: again)
        }
    }
}
