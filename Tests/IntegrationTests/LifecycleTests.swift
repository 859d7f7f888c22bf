import Foundation
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// The start and the end of the process.
@Suite(.timeLimit(.minutes(10)))
struct LifecycleTests {
    @Test func `starts with the broker offline, and delivers when it comes`() async throws {
        try await withBench { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            let journal = bench.path("journal")
            try bench.configure([bench.execDevice("band", ["--journal", journal])])
            try await bench.server.stop()
            let gateway = bench.startGateway()
            try await gateway.says("A synchronisation ended.")
            #expect(!gateway.events.elements.contains { $0.isEnd })
            try await bench.server.start()
            let consumer = Consumer()
            expected.check(try await bench.wait(for: 68, by: consumer).samples)
            try await bench.message("gateway/status") { $0.text == "online" }
        }
    }

    @Test func `SIGTERM ends it within five seconds with status 0, and consumers see it offline`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            let hanging = bench.execDevice("hanging", ["--hang", "history/read", "--hang", "shutdown"])
            let gateway = try await bench.start(
                [bench.execDevice("band", ["--journal", journal]), hanging], synced: "band")
            try await bench.connected("hanging")
            let start = bench.position
            let began = ContinuousClock.now
            gateway.interrupt(.end)
            try await gateway.end(within: Bench.timeout)
            // One second more than promised, for a machine that is busy with other tests.
            #expect(ContinuousClock.now - began < .seconds(6))
            #expect(gateway.events.elements.last?.text == "ended: exited(0)")
            try await bench.message("gateway/status", from: start) { $0.text == "offline" }
            #expect(try Journal(journal).methods.last == "shutdown")
            // All data is in the one file now, which can be copied.
            let log = FileManager.default.contents(atPath: bench.path("vitals.sqlite-wal")) ?? Data()
            #expect(log.isEmpty)
        }
    }

    @Test func `a stop that waits for a device logs no error of the listener for posts`() async throws {
        try await withBench { bench in
            let port = try freePort()
            try bench.secret("a secret of the phone", as: "phone.token")
            let phone = "{id: phone, driver: health-auto-export, transport: {type: http, token: {file: phone.token}}}"
            let slow = bench.execDevice("slow", ["--hang", "shutdown"])
            try bench.configure([slow, phone], web: "{listen: \"127.0.0.1:\(port)\"}")
            let gateway = bench.startGateway()
            try await gateway.says("The gateway listens.")
            try await bench.connected("slow")
            gateway.interrupt(.end)
            try await gateway.end(within: Bench.timeout)
            let errors = gateway.events.elements.filter { $0.text.contains("own listener (web) cannot be opened") }
            #expect(errors.isEmpty, "\(errors)")
        }
    }

    @Test func `the broker says that it is offline after SIGKILL`() async throws {
        try await withBench { bench in
            try bench.configure([bench.execDevice("band")])
            let gateway = bench.startGateway()
            try await bench.message("gateway/status") { $0.text == "online" }
            let start = bench.position
            try await bench.end(gateway, by: .kill)
            try await bench.message("gateway/status", from: start) { $0.text == "offline" }
        }
    }

    @Test func `a second gateway on the same store ends and says why, and the first one goes on`() async throws {
        try await withBench { bench in
            let first = try await bench.start([bench.execDevice("band")], synced: "band")
            let second = bench.startGateway()
            try await second.end(within: Bench.timeout)
            #expect(second.events.elements.last?.text == "ended: exited(70)")
            #expect(second.events.elements.contains { $0.text.contains("vitals.sqlite") })
            let answer = try await bench.command("band/command/sync", id: "still-here")
            #expect(answer["status"]?.asString == "done")
            #expect(!first.events.elements.contains { $0.isEnd })
        }
    }

    @Test func `a missing configuration file is status 78, and named`() async throws {
        try await withBench { bench in
            let gateway = bench.startGateway()
            try await gateway.end(within: Bench.timeout)
            #expect(gateway.events.elements.last?.text == "ended: exited(78)")
            #expect(gateway.events.elements.contains { $0.text.contains("gateway.yaml") })
        }
    }

    @Test func `a store file of garbage is moved aside, a new one begins, and the loss is reported`() async throws {
        try await withBench { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            let first = try await bench.start([bench.execDevice("band")], synced: "band")
            let store = try #require(try await bench.message("gateway/info").json["store"]?.asString)
            try await bench.end(first, by: .end)

            let garbage = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
            try garbage.write(to: URL(filePath: bench.path("vitals.sqlite")))
            let start = bench.position
            let second = bench.startGateway()
            let gap = try await bench.message("band/event/gap", from: start)
            #expect(gap.json["reason"]?.asString == "store_reset")
            let info = try await bench.message("gateway/info", from: start) { $0.json["store"]?.asString != store }
            #expect(info.json["store"]?.asString != nil)
            let consumer = Consumer()
            _ = consumer.read(Array(bench.subscriber.messages[..<start]))
            try await bench.synced("band", from: start)
            try await bench.message("band/measurement/heart_rate", from: start)
            expected.check(consumer.knowledge.samples)
            let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder)
                .filter { $0.hasPrefix("vitals.sqlite") }
            let kept = names.filter { FileManager.default.contents(atPath: bench.path($0)) == garbage }
            #expect(kept.count == 1, "\(names)")
            #expect(second.events.elements.contains { line in kept.contains { line.text.contains($0) } })
        }
    }

    @Test(arguments: ["auto", "5", "3.1.1"])
    func `speaks TLS with a client certificate and a password`(version: String) async throws {
        let account = MosquittoAccount(username: "vitals", password: "correct horse")
        let options = MosquittoOptions(
            isPersistent: true, users: [account.username: account.password], encryption: .mutual)
        try await withBench(options, as: account) { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            let certificates = try #require(bench.server.certificates)
            try "\(account.password)\n".write(toFile: bench.path("secret"), atomically: true, encoding: .utf8)
            try bench.configure(
                [bench.execDevice("band")],
                mqtt: [
                    "protocol: \"\(version)\"", "username: \(account.username)", "password: {file: secret}",
                    "tls: {ca_file: \(certificates.ca), certificate_file: \(certificates.client), "
                        + "key_file: \(certificates.clientKey)}",
                ])
            _ = bench.startGateway()
            let consumer = Consumer()
            expected.check(try await bench.wait(for: 68, by: consumer).samples)
            let answer = try await bench.command("band/command/sync", id: "over-tls")
            #expect(answer["status"]?.asString == "done")
        }
    }
}
