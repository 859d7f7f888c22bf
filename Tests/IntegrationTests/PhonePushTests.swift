import Foundation
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// Phones that push documents, in the whole gateway, with real curl and mosquitto_pub.
@Suite(.timeLimit(.minutes(10)))
struct PhonePushTests {
    private static let export = Repository.file("Plugins/Phones/Tests/Fixtures/health-auto-export.json")
    private static let webhook = Repository.file("Plugins/Phones/Tests/Fixtures/health-connect-webhook.json")

    /// Configures two phones that post. Returns the port.
    private func configure(_ bench: Bench) throws -> Int {
        let port = try freePort()
        try bench.secret("anna's secret", as: "anna.token")
        try bench.secret("ben's secret", as: "ben.token")
        try bench.configure(
            [
                "{id: anna, driver: health-auto-export, transport: {type: http, token: {file: anna.token}}}",
                "{id: ben, driver: health-connect-webhook, transport: {type: http, token: {file: ben.token}}}",
            ], web: "{listen: \"127.0.0.1:\(port)\"}")
        return port
    }

    @Test func `a post is answered after the commit, and each error with its status`() async throws {
        try await withBench { bench in
            let port = try configure(bench)
            _ = bench.startGateway()
            // Until a phone posts, the gateway waits for it, and says so.
            try await bench.message("anna/link") { $0.json["state"]?.asString == "connecting" }
            try await bench.message("ben/link") { $0.json["state"]?.asString == "connecting" }
            let first = try await bench.post(Self.export, to: "/v1/devices/anna", "anna's secret", port: port)
            #expect(first.status == 200, "\(first)")
            // 14 metrics, worked out by hand: see HealthAutoExportTests. A time in bed says less than the night in it.
            #expect(first.json["new"]?.asInt == 21, "\(first)")
            #expect(first.json["known"]?.asInt == 0 && first.json["superseded"]?.asInt == 1, "\(first)")
            #expect(first.json["refused"]?.asArray == [])
            try await bench.connected("anna")
            try await bench.message("anna/measurement/heart_rate") { message in
                (message.json["samples"]?.asArray ?? []).contains { $0["value"]?.asDouble == 72.5 }
            }
            // The same again is known, and an empty export erases nothing.
            let again = try await bench.post(Self.export, to: "/v1/devices/anna", "anna's secret", port: port)
            #expect(again.json["new"]?.asInt == 0 && again.json["known"]?.asInt == 21, "\(again)")
            try #"{"data":{"metrics":[]}}"#.write(toFile: bench.path("empty"), atomically: true, encoding: .utf8)
            let empty = try await bench.post(bench.path("empty"), to: "/v1/devices/anna", "anna's secret", port: port)
            #expect(empty.json["new"]?.asInt == 0 && empty.status == 200, "\(empty)")
            let ben = try await bench.post(Self.webhook, to: "/v1/devices/ben", "ben's secret", port: port)
            #expect(ben.json["new"]?.asInt == 30, "\(ben)")

            // The session ends, which is no failure.
            let after = bench.position
            try await bench.message("anna/link", from: after) {
                $0.json["state"]?.asString == "connecting" && ($0.json["last_error"]?.isNull ?? true)
            }

            try "{".write(toFile: bench.path("torn"), atomically: true, encoding: .utf8)
            try Data(repeating: 32, count: (20 << 20) + 1).write(to: URL(filePath: bench.path("long")))
            for (file, path, token, more, status) in [
                (Self.export, "/v1/devices/carl", "anna's secret", [], 401),
                (Self.export, "/elsewhere", "anna's secret", [], 404),
                (bench.path("long"), "/v1/devices/anna", "anna's secret", [], 413),
                (Self.export, "/v1/devices/anna", "anna's secret", ["--header", "Content-Type: text/csv"], 415),
                (bench.path("torn"), "/v1/devices/anna", "anna's secret", [], 422),
                (Self.webhook, "/v1/devices/anna", "anna's secret", [], 422),
                (Self.webhook, "/v1/devices/anna", "ben's secret", [], 401),
                (Self.export, "/v1/devices/ben", "anna's secret", [], 401),
            ] as [(String, String, String, [String], Int)] {
                let answer = try await bench.post(file, to: path, token, port: port, more: more)
                #expect(answer.status == status, "\(path) \(answer)")
                #expect(answer.json["error"]?["message"]?.asString?.isEmpty == false)
            }
            // The waits double until they are longer than a call of curl on a busy machine.
            var statuses: [Int] = []
            while statuses.last != 429, statuses.count < 8 {
                statuses.append(try await bench.post(Self.export, to: "/v1/devices/anna", "a guess", port: port).status)
            }
            #expect(statuses.last == 429, "\(statuses)")
        }
    }

    @Test func `of documents that overlap, each record counts once, and an impossible value is refused`() async throws {
        try await withBench { bench in
            let port = try configure(bench)
            _ = bench.startGateway()
            try await bench.message("anna/link") { $0.json["state"]?.asString == "connecting" }
            func post(_ rates: KeyValuePairs<Int, Int>) async throws -> JSONValue {
                let entries = rates.map { minute, rate in
                    #"{"date":"2026-01-05 14:\#(minute):00 +0100","Min":50,"Avg":\#(rate),"Max":150}"#
                }.joined(separator: ",")
                try #"{"data":{"metrics":[{"name":"heart_rate","units":"count/min","data":[\#(entries)]}]}}"#
                    .write(toFile: bench.path("rates"), atomically: true, encoding: .utf8)
                let answer = try await bench.post(
                    bench.path("rates"), to: "/v1/devices/anna", "anna's secret", port: port)
                #expect(answer.status == 200)
                return answer.json
            }
            func reported(_ json: JSONValue) -> [Int?] { ["new", "corrected", "known"].map { json[$0]?.asInt } }
            #expect(try await reported(post([10: 70, 11: 71, 12: 72])) == [3, 0, 0])
            #expect(try await reported(post([11: 71, 12: 80, 13: 73])) == [1, 1, 1])
            #expect(try await reported(post([:])) == [0, 0, 0])
            #expect(try await reported(post([10: 70, 11: 71, 12: 80, 13: 73])) == [0, 0, 4])
            // No heart beats 400 times a minute: the others count, and the answer says why it does not.
            let answer = try await post([13: 73, 14: 400, 15: 401, 16: 74])
            #expect(reported(answer) == [1, 0, 1])
            let refused = answer["refused"]?.asArray ?? []
            #expect(refused.map { $0["reason"]?.asString } == ["value: must be a number from 20 to 300"], "\(answer)")
            #expect(refused.map { $0["count"]?.asInt } == [2])
        }
    }

    @Test func `steps of a watch and a phone count once, and a test counts for nobody`() async throws {
        try await withBench { bench in
            let port = try configure(bench)
            _ = bench.startGateway()
            try await bench.message("anna/link") { $0.json["state"]?.asString == "connecting" }
            try await bench.message("ben/link") { $0.json["state"]?.asString == "connecting" }
            func post(_ document: String, to name: String) async throws -> [Int?] {
                try document.write(toFile: bench.path("document"), atomically: true, encoding: .utf8)
                let answer = try await bench.post(
                    bench.path("document"), to: "/v1/devices/\(name)", "\(name)'s secret", port: port)
                #expect(answer.status == 200, "\(answer)")
                return ["new", "corrected", "known", "superseded"].map { answer.json[$0]?.asInt }
            }
            let entries = (10..<40).flatMap { minute in
                [("Watch", 30), ("Phone", 20)].map { source, steps in
                    #"{"date":"2026-01-05 09:\#(minute):00 +0100","qty":\#(steps),"source":"\#(source)"}"#
                }
            }.joined(separator: ",")
            let steps = #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[\#(entries)]}]}}"#
            #expect(try await post(steps, to: "anna") == [30, 0, 0, 30])
            for _ in 0..<2 { #expect(try await post(steps, to: "anna") == [0, 0, 30, 30]) }
            try await bench.message("anna/daily/steps/2026-01-05") { $0.json["total"]?.asInt == 900 }
            let weight = #""weight":[{"kilograms":75.5,"time":"2026-01-05T07:30:00Z"}]"#
            let test = #"{"timestamp":"2026-01-05T08:00:00Z","test":true,\#(weight)}"#
            #expect(try await post(test, to: "ben") == [0, 0, 0, 0])
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `random documents end in the steps that the page of the contract counts`(seed: UInt64) async throws {
        try await withBench { bench in
            let port = try configure(bench)
            _ = bench.startGateway()
            try await bench.message("anna/link") { $0.json["state"]?.asString == "connecting" }
            var random = SplitMix64(seed: seed)
            let sources = [
                ("Anna's Watch", 1), ("iPhone", 15), ("Oura Ring", 5), ("Anna's Watch|iPhone", 1), ("Scale", 60),
            ]
            // Across the night in which the clocks of Berlin go back.
            let night = try #require(Timestamp(rfc3339: "2025-10-25T22:00:00Z"))
            var files: [String] = []
            for number in 0..<12 {
                var entries: [String] = []
                for _ in 0..<25 {
                    let place = Int.random(in: 0..<sources.count, using: &random)
                    let (source, length) = sources[place]
                    let minute = Int.random(in: 0..<240 / length, using: &random) * length
                    let start = night + .minutes(minute) + .seconds(place)
                    entries.append(
                        #"{"start":"\#(start)","end":"\#(start + .minutes(length))","qty":\#(minute % 90 + 1),"source":"\#(source)"}"#
                    )
                }
                files.append(bench.path("document-\(number)"))
                try #"{"data":{"metrics":[{"name":"step_count","data":[\#(entries.joined(separator: ","))]}]}}"#
                    .write(toFile: files[number], atomically: true, encoding: .utf8)
            }
            try #"{"data":{"metrics":[{"name":"heart_rate","data":[{"date":"2025-10-25T22:00:00Z","Avg":60}]}]}}"#
                .write(toFile: bench.path("last"), atomically: true, encoding: .utf8)
            for file in (files + files.prefix(4)).shuffled(using: &random) + [bench.path("last")] {
                let answer = try await bench.post(file, to: "/v1/devices/anna", "anna's secret", port: port)
                #expect(answer.status == 200 && answer.json["refused"]?.asArray == [], "\(answer)")
            }
            let reference = bench.programs.start("python3", ["-B", Repository.fixture("counted_once.py")] + files)
            try await reference.end(within: Bench.timeout)
            let wanted = reference.events.elements.compactMap { Int($0.text) }
            #expect(wanted.count > 20)
            // What was stored last is published last.
            try await bench.message("anna/measurement/heart_rate")
            #expect(bench.values("anna", "steps") == wanted)
        }
    }

    @Test func `a part of a night or of a count is superseded, and the whole one stays`() async throws {
        try await withBench { bench in
            let port = try configure(bench)
            _ = bench.startGateway()
            try await bench.message("ben/link") { $0.json["state"]?.asString == "connecting" }
            func post(_ document: String) async throws -> [Int?] {
                try document.write(toFile: bench.path("document"), atomically: true, encoding: .utf8)
                let answer = try await bench.post(
                    bench.path("document"), to: "/v1/devices/ben", "ben's secret", port: port)
                #expect(answer.status == 200, "\(answer)")
                return ["new", "corrected", "known", "superseded"].map { answer.json[$0]?.asInt }
            }
            let stages = [
                ("light", "2026-01-04T23:00:00Z", "2026-01-05T01:00:00Z"),
                ("deep", "2026-01-05T01:00:00Z", "2026-01-05T05:00:00Z"),
                ("rem", "2026-01-05T05:00:00Z", "2026-01-05T06:30:00Z"),
            ]
            func night(_ stages: [(String, String, String)]) -> String {
                let parts = stages.map { stage, start, end in
                    #"{"stage":"\#(stage)","start_time":"\#(start)","end_time":"\#(end)"}"#
                }
                let end = "2026-01-05T06:30:00Z"
                return #"{"sleep":[{"session_end_time":"\#(end)","stages":[\#(parts.joined(separator: ","))]}]}"#
            }
            func steps(_ count: Int, until end: String) -> String {
                #"{"steps":[{"count":\#(count),"start_time":"2026-01-05T00:00:00Z","end_time":"2026-01-05T\#(end)Z"}]}"#
            }
            #expect(try await post(night(stages)) == [1, 0, 0, 0])
            // As of an app that writes a session for each stage, of which the window has cut the beginning.
            let cut = night([("rem", "2026-01-05T05:30:00Z", "2026-01-05T06:30:00Z")])
            #expect(try await post(cut) == [0, 0, 0, 1])
            #expect(try await post(steps(9000, until: "20:00:00")) == [1, 0, 0, 0])
            // Of a part of the day, with its own end; then a correction of the same interval.
            #expect(try await post(steps(3000, until: "08:00:00")) == [0, 0, 0, 1])
            #expect(try await post(steps(4000, until: "20:00:00")) == [0, 1, 0, 0])
            #expect(try await post(steps(4000, until: "20:00:00")) == [0, 0, 1, 0])
            #expect(try await post(steps(9100, until: "20:30:00")) == [1, 0, 0, 0])
            // The last message of all.
            try await bench.message("ben/measurement/steps") { message in
                (message.json["samples"]?.asArray ?? []).contains { $0["value"]?.asInt == 9100 }
            }
            #expect(bench.values("ben", "steps") == [9100])
            #expect(bench.values("ben", "sleep") == [450])
        }
    }

    @Test func `a warning of a watch is an alert, or history if it is late, and comes once`() async throws {
        try await withBench { bench in
            let port = try configure(bench)
            let gateway = bench.startGateway()
            let now = Timestamp(seconds: Int64(Date().timeIntervalSince1970))
            let notification = """
                {"start": "\(now - .minutes(11))", "end": "\(now - .minutes(1))", "threshold": 120,
                 "heartRate": [{"hr": 131, "units": "bpm"}]}
                """
            let recording = """
                {"start": "2026-01-05 08:00:00 +0100", "end": "2026-01-05 08:00:30 +0100", "averageHeartRate": 97,
                 "classification": "Atrial Fibrillation", "voltageMeasurements": [{"voltage": 0.1, "units": "V"}]}
                """
            try #"{"data": {"heartRateNotifications": [\#(notification)], "ecg": [\#(recording)], "symptoms": [{}]}}"#
                .write(toFile: bench.path("warnings"), atomically: true, encoding: .utf8)
            func post() async throws -> JSONValue {
                let answer = try await bench.post(
                    bench.path("warnings"), to: "/v1/devices/anna", "anna's secret", port: port)
                #expect(answer.status == 200)
                return answer.json
            }
            func reported(_ json: JSONValue) -> [Int?] { ["new", "known"].map { json[$0]?.asInt } }
            try await bench.message("anna/link") { $0.json["state"]?.asString == "connecting" }
            let first = try await post()
            #expect(reported(first) == [2, 0], "\(first)")
            #expect(
                Set((first["skipped"]?.asArray ?? []).compactMap { $0["reason"]?.asString })
                    == ["left out on purpose: the voltages of an ECG", "left out on purpose: symptoms"])
            let live = try await bench.message("anna/event/alert")
            #expect(live.json["event_type"]?.asString == "heart_rate_warning_high")
            #expect(live.json["value"]?.asDouble == 131 && live.json["limit"]?.asDouble == 120)
            #expect(live.json["measured_at"]?.asString == "\(now - .minutes(1))")
            let late = try await bench.message("anna/event/history")
            #expect(late.json["event_type"]?.asString == "ecg_atrial_fibrillation")
            #expect(late.json["value"]?.asDouble == 97 && late.json["limit"]?.isNull == true)
            let info = try await bench.message("anna/info") { $0.json["capabilities"]?.isNull == false }
            #expect(info.json["capabilities"]?["heart_rate"]?["warnings"]?.asBool == true)

            #expect(try await reported(post()) == [0, 2])
            try await bench.end(gateway, by: .kill)
            _ = bench.startGateway()
            // The listener is open when the gateway waits for the phone again.
            let after = bench.position
            try await bench.message("anna/link", from: after) { $0.json["state"]?.asString == "connecting" }
            #expect(try await reported(post()) == [0, 2])
            let events = bench.subscriber.messages.filter { $0.topic.hasPrefix("\(Bench.base)/anna/event/") }
            // Only after the kill the same message may come again, with its number.
            #expect(Set(events.compactMap { $0.json["seq"]?.asInt }).count == 2, "\(events.map(\.topic))")
        }
    }

    @Test func `a script is told what became of each of its entries, and the same once more changes nothing`()
        async throws
    {
        try await withBench { bench in
            let port = try freePort()
            try bench.secret("a script's secret", as: "script.token")
            try bench.configure(
                ["{id: script, driver: documents, transport: {type: http, token: {file: script.token}}}"],
                web: "{listen: \"127.0.0.1:\(port)\"}")
            _ = bench.startGateway()
            try await bench.message("script/link") { $0.json["state"]?.asString == "connecting" }
            let weights = [("71.2", "kg"), ("900", "kg"), ("157", "lb"), ("71.3", "bpm")].enumerated().map {
                place, weight in
                let time = "2026-01-05T07:0\(place):00+01:00"
                return #"{"metric":"weight","value":\#(weight.0),"unit":"\#(weight.1)","time":"\#(time)"}"#
            }
            let alert = #"{"rule":"heart_rate_resting_high","value":121,"time":"2026-01-05T07:00:00+01:00"}"#
            try #"{"samples":[\#(weights.joined(separator: ","))],"alerts":[\#(alert)]}"#
                .write(toFile: bench.path("document"), atomically: true, encoding: .utf8)
            for outcome in ["new", "known"] {
                let answer = try await bench.post(
                    bench.path("document"), to: "/v1/devices/script", "a script's secret", port: port)
                #expect(answer.status == 200, "\(answer)")
                let entries = (answer.json["entries"]?.asArray ?? []).map { entry in
                    "\(entry["path"]?.asString ?? "") \(entry["outcome"]?.asString ?? "")"
                }
                let expected = [
                    "samples[0] \(outcome)", "samples[1].value refused", "samples[2] \(outcome)",
                    "samples[3].unit refused", "alerts[0] \(outcome)",
                ]
                #expect(entries == expected, "\(answer)")
            }
            try await bench.message("script/event/history") { $0.json["rule"]?.asString == "heart_rate_resting_high" }
            try await bench.message("script/measurement/weight") { message in
                (message.json["samples"]?.asArray ?? []).contains { $0["value"]?.asDouble == 71.214 }
            }
        }
    }

    @Test func `a document comes by a message, too`() async throws {
        try await withBench { bench in
            try bench.configure([
                "{id: anna, driver: health-auto-export, transport: {type: mqtt, topic: phones/anna}}"
            ])
            let gateway = bench.startGateway()
            try await bench.message("anna/link") { $0.json["state"]?.asString == "connecting" }
            func publish(_ file: String) async throws {
                let program = bench.programs.start(
                    "mosquitto_pub",
                    [
                        "-h", "127.0.0.1", "-p", "\(bench.server.port)", "-q", "1", "-t", "phones/anna", "-f", file,
                    ])
                try await program.end(within: Bench.timeout)
                #expect(program.events.elements.last == .ended("exited(0)"))
            }
            // The subscription follows the connection within moments; until then, a message has no receiver.
            let start = bench.position
            while bench.messages("anna/measurement/weight", from: start).isEmpty {
                try await publish(Self.export)
                _ = try? await bench.subscriber.wait(deadline: .seconds(1)) { messages in
                    messages[start...].contains { $0.topic == "\(Bench.base)/anna/measurement/weight" }
                }
            }
            try "nonsense".write(toFile: bench.path("torn"), atomically: true, encoding: .utf8)
            try await publish(bench.path("torn"))
            try await gateway.says("A document cannot be read.")
            try #"{"data":{"metrics":"x"}}"#.write(toFile: bench.path("torn"), atomically: true, encoding: .utf8)
            try await publish(bench.path("torn"))
            try await gateway.says("data.metrics must be a list.")
            // The device's commands are where they were.
            #expect(try await bench.command("anna/command/sync", id: "s")["id"]?.asString == "s")
        }
    }

    @Test func `a topic of the gateway's own is an error of the configuration`() async throws {
        try await withBench { bench in
            for (topic, reason) in [
                ("vitals2mqtt/home/anna/command/sync", "must not be inside vitals2mqtt/home"),
                ("phones/#", "must not have the wildcards"),
            ] {
                try bench.configure([
                    "{id: anna, driver: health-auto-export, transport: {type: mqtt, topic: \"\(topic)\"}}"
                ])
                let gateway = bench.startGateway()
                try await gateway.end(within: Bench.timeout)
                #expect(gateway.events.elements.contains { $0.text.contains(reason) }, "\(gateway.events.elements)")
            }
            try bench.configure([
                "{id: anna, driver: health-auto-export, transport: {type: mqtt, topic: phones}}",
                "{id: ben, driver: health-auto-export, transport: {type: mqtt, topic: phones}}",
            ])
            let gateway = bench.startGateway()
            try await gateway.end(within: Bench.timeout)
            #expect(gateway.events.elements.contains { $0.text.contains("is that of anna already") })
        }
    }

    /// How often the gateway is killed.
    private static let kills = 30

    @Test func `whatever was answered with 200 arrives, however often the gateway is killed`() async throws {
        try await withBench { bench in
            let port = try configure(bench)
            var random = SplitMix64(seed: 81)
            var answered: Set<Int> = []
            var number = 0
            for _ in 0..<Self.kills {
                let gateway = bench.startGateway()
                let phone = bench.programs.start(
                    "python3",
                    [
                        Repository.fixture("posting_phone.py"), "\(port)", "anna", "anna's secret", "\(number)", "5000",
                    ])
                // Killed somewhere between the receipt of a document and its answer.
                let wanted = Int.random(in: 1...12, using: &random)
                try await phone.events.wait(within: Bench.timeout) { $0.filter { !$0.isEnd }.count >= wanted }
                try await bench.end(gateway, by: .kill)
                try await phone.end(within: Bench.timeout)
                answered.formUnion(phone.events.elements.compactMap { Int($0.text) })
                number += 5000
            }
            #expect(answered.count >= Self.kills)
            _ = bench.startGateway()
            let base = try #require(Timestamp(rfc3339: "2026-01-05T12:00:00Z"))
            let starts = AwaitedStarts(
                Set(answered.map { (base + .seconds($0)).description }),
                on: "\(Bench.base)/anna/measurement/heart_rate")
            do {
                try await bench.subscriber.wait(deadline: Bench.timeout, until: starts.haveArrived)
            } catch {
                let missing = starts.missing
                Issue.record("\(missing.count) of \(answered.count) did not arrive: \(missing.sorted().prefix(5))")
                throw error
            }
        }
    }
}
