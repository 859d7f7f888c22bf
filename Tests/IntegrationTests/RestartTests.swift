import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// What must survive the end of the process or of the broker.
@Suite(.timeLimit(.minutes(10)))
struct RestartTests {
    @Test func `a broker that hangs is detected, and nothing is lost meanwhile`() async throws {
        try await withBench { bench in
            let device = try await LoadDevice("band", rate: 100, on: bench)
            try bench.configure([bench.tcpDevice("band", port: device.port)], mqtt: ["keep_alive: 5s"])
            let gateway = bench.startGateway()
            let consumer = Consumer()
            try await bench.wait(for: 50, by: consumer)
            // It keeps its connections open and answers nothing, like a machine without power.
            bench.server.freeze()
            try await gateway.says("The broker is not connected.")
            try await device.wait(for: device.acknowledged + 500)
            #expect(gateway.events.elements.contains { $0.text.contains("did not answer any more") })
            #expect(!gateway.events.elements.contains { $0.text.contains("Unknown error") })
            bench.server.thaw()
            let acknowledged = try await device.end(on: bench)
            let known = try await bench.wait(for: acknowledged, by: consumer)
            #expect(known.issues.isEmpty)
            #expect(known.holes.isEmpty)
            for (series, starts) in known.starts { #expect(starts == starts.sorted(), "\(series)") }
        }
    }

    @Test func `the next broker of the list takes over, and gets what the first one did not`() async throws {
        try await withBench { bench in
            try await withMosquitto { other in
                let band = try await LoadDevice("band", on: bench)
                let ring = try await LoadDevice("ring", on: bench)
                ring.program.interrupt(.freeze)
                let list = [other.port, bench.server.port].map { "\"mqtt://127.0.0.1:\($0)\"" }.joined(separator: ", ")
                try bench.configure(
                    [bench.tcpDevice("band", port: band.port), bench.tcpDevice("ring", port: ring.port)],
                    url: "[\(list)]")
                try await other.withSubscriber { first in
                    // It begins once a subscriber listens: a broker keeps no sample for later.
                    _ = bench.startGateway()
                    try await band.wait(for: 200)
                    let wanted = Set(try await band.end(on: bench))
                    let consumer = Consumer()
                    try await first.wait(deadline: Bench.timeout) { messages in
                        wanted.isSubset(of: consumer.read(messages).samples.keys)
                    }
                }
                try await other.kill()
                ring.program.interrupt(.thaw)
                try await ring.wait(for: 200)
                let known = try await bench.wait(for: ring.end(on: bench), by: Consumer())
                #expect(known.issues.isEmpty)
                #expect(known.holes.isEmpty)
            }
        }
    }

    @Test func `what stood about a removed device is emptied, also when a kill came before the broker`() async throws {
        try await withBench { bench in
            let band = bench.execDevice("band")
            let first = try await bench.start([band, bench.execDevice("old")], synced: "old")
            try await bench.end(first, by: .end)
            try await bench.server.stop()

            try bench.configure([band])
            let second = bench.startGateway()
            try await second.says("The broker is not connected.")
            try await bench.end(second, by: .kill)
            try await bench.server.start()
            let start = bench.position
            _ = bench.startGateway()
            for topic in ["old/info", "old/link", "old/latest/heart_rate", "old/config"] {
                try await bench.message(topic, from: start) { $0.payload.isEmpty }
            }
        }
    }

    @Test func `ends in time under load with a broker that hangs, and loses nothing`() async throws {
        try await withBench { bench in
            let device = try await LoadDevice("band", on: bench)
            try bench.configure([
                bench.tcpDevice("band", port: device.port), bench.execDevice("stuck", ["--hang", "history/read"]),
            ])
            let gateway = bench.startGateway()
            let consumer = Consumer()
            try await bench.wait(for: 50, by: consumer)
            try await bench.connected("stuck")
            bench.server.freeze()
            try await device.wait(for: device.acknowledged + 300)
            let began = ContinuousClock.now
            gateway.interrupt(.end)
            try await gateway.end(within: Bench.timeout)
            // The gateway itself ends with another status if its stop takes longer than five seconds. This machine may be
            // busy with other tests, which the process needs, too, before the signal and after the stop.
            #expect(ContinuousClock.now - began < .seconds(20))
            #expect(gateway.events.elements.last?.text == "ended: exited(0)")
            bench.server.thaw()
            _ = bench.startGateway()
            try await device.wait(for: device.acknowledged + 1)
            let known = try await bench.wait(for: device.end(on: bench), by: consumer)
            #expect(known.issues.isEmpty)
            #expect(known.holes.isEmpty)
        }
    }

    @Test func `a command that ran when the gateway was killed is answered after the restart`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            let hang = ["--hang", "history/read", "--journal", journal]
            try bench.configure([bench.execDevice("band", hang)])
            let first = bench.startGateway()
            try await bench.connected("band")
            try await bench.publish(
                "band/command/sync", #"{"id":"interrupted"}"#, responseTopic: "clients/me", correlation: "c-9")
            try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                messages.contains { $0.topic == "clients/me" && $0.json["status"]?.asString == "accepted" }
            }
            try await bench.end(first, by: .kill)
            _ = bench.startGateway()
            let messages = try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                messages.contains { $0.topic == "clients/me" && $0.json["status"]?.asString != "accepted" }
            }
            let answer = try #require(messages.last { $0.topic == "clients/me" })
            #expect(answer.json["status"]?.asString == "failed")
            #expect(answer.json["code"]?.asString == "timeout")
            #expect(answer.json["id"]?.asString == "interrupted")
            #expect(answer.correlationData == Array("c-9".utf8))
        }
    }

    @Test func `an alert and an answer that the broker has are not sent again after a kill right behind them`()
        async throws
    {
        try await withBench { bench in
            let now = AnswersDevice.moment(secondsAgo: 1)
            let device = try AnswersDevice(
                "band", on: bench, capabilities: #"{"stress":{"measure":true,"alert":true}}"#,
                answers: [
                    "measurement/start": #"""
                    {"result":{"measurement":1},"tell":[
                    {"method":"alert","params":{"rule":"stress_high","edge":"raised","value":90,"at":\#(now)}},
                    {"method":"measurement/ended","params":{"measurement":1,"completed":true}}]}
                    """#
                ])
            try bench.configure([device.entry])
            let first = bench.startGateway()
            try await bench.connected("band")
            let answer = try await bench.command("band/command/measure", id: "measured", #""metric":"stress""#)
            #expect(answer["status"]?.asString == "done")
            let alert = try await bench.message("band/event/alert")
            #expect(alert.json["event_type"]?.asString == "stress_high")
            // The broker's acknowledgements come before these commands, and their marks are on disk before the last answer.
            for id in ["first", "second"] {
                try await bench.command("band/command/daily", id: id, #""metric":"stress""#)
            }
            try await bench.end(first, by: .kill)
            try await bench.gone()

            let start = bench.position
            _ = bench.startGateway()
            try await bench.connected("band", from: start)
            // All that waited from before goes out before a new answer, alerts first of all.
            try await bench.command("band/command/daily", id: "behind", #""metric":"stress""#)
            #expect(bench.messages("band/event/alert", from: start).isEmpty)
            #expect(bench.messages("band/event/history", from: start).isEmpty)
            let again = bench.messages("band/response", from: start).compactMap { $0.json["id"]?.asString }
            #expect(!again.contains("measured"), "\(again)")
        }
    }

    @Test func `a limit that was set while the device was offline reaches it, also after a kill`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            let port = try freePort()
            let arguments = [Repository.device, "--tcp", "127.0.0.1:\(port)", "--journal", journal]
            try bench.configure([bench.tcpDevice("band", port: port)])
            let device = bench.programs.start("python3", arguments)
            let first = bench.startGateway()
            try await bench.synced("band")
            var start = bench.position
            try await bench.end(device, by: .kill)
            try await bench.message("band/link", from: start) { $0.json["state"]?.asString == "waiting" }
            let answer = try await bench.command(
                "band/config/set", id: "offline", #""heart_rate":{"resting_alert":{"upper":88}}"#)
            #expect(answer["status"]?.asString == "done")
            #expect(answer["data"]?["pending"]?.asArray == ["heart_rate.resting_alert.upper"])
            let pending = try await bench.message("band/config", from: start) {
                $0.json["pending"]?.asArray == ["heart_rate.resting_alert.upper"]
            }
            #expect(answer["data"]?["version"] == pending.json["version"])
            let conflict = try await bench.command(
                "band/config/set", id: "old", #""if_version":0,"heart_rate":{"resting_alert":{"upper":77}}"#)
            #expect(conflict["code"]?.asString == "conflict")
            try await bench.end(first, by: .kill)

            start = bench.position
            _ = bench.startGateway()
            _ = bench.programs.start("python3", arguments)
            let settled = try await bench.message("band/config", from: start) {
                $0.json["pending"]?.asArray?.isEmpty ?? false && $0.json["version"] == pending.json["version"]
            }
            #expect(settled.json["heart_rate"]?["resting_alert"]?["upper"]?.asInt == 88)
            let written = try Journal(journal).last("monitor/write")
            #expect(written?["configuration"]?["resting_alert"]?["upper"]?.asInt == 88)
        }
    }
}
