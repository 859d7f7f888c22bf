import JSON
import TestSupport
import Testing

/// Checks that one device never harms or delays another.
@Suite(.timeLimit(.minutes(10)))
struct IsolationTests {
    @Test(arguments: [("history/read", "sync"), ("monitor/read", "fetch")])
    func `a device that hangs does not delay another one's answers`(method: String, command: String) async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            try bench.configure([
                bench.execDevice("stuck", ["--hang", method, "--journal", journal]), bench.execDevice("band"),
            ])
            _ = bench.startGateway()
            try await bench.connected("stuck")
            try await bench.synced("band")
            let start = bench.position
            try await bench.publish("stuck/command/\(command)", #"{"id":"slow"}"#)
            for id in ["quick-1", "quick-2"] {
                let answer = try await bench.command("band/command/\(command)", id: id)
                #expect(answer["status"]?.asString == "done")
            }
            let calls = try Journal(journal)
            #expect(calls.methods.contains(method), "It hangs indeed.")
            let slow = bench.messages("stuck/response", from: start).filter { $0.json["status"] != "accepted" }
            #expect(slow.isEmpty)
        }
    }

    @Test(arguments: [
        ["--endless-line"], ["--die", "initialize"], ["--die", "history/read"],
    ])
    func `a program that misbehaves waits with an error, and another device does not notice`(
        arguments: [String]
    ) async throws {
        try await withBench { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            let journal = bench.path("journal")
            try bench.configure([
                bench.execDevice("bad", arguments), bench.execDevice("band", ["--journal", journal]),
            ])
            try await bench.check("bad", expected, journal)
        }
    }

    @Test(arguments: ["[/nowhere/program]", "[sh, -c, \"exit 3\"]", "[sh, -c, \"echo nonsense; exit 0\"]"])
    func `a program that is none waits with an error, and another device does not notice`(
        command: String
    ) async throws {
        try await withBench { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            let journal = bench.path("journal")
            let bad = "{id: bad, name: bad, driver: link, transport: {type: exec, command: \(command)}}"
            try bench.configure([bad, bench.execDevice("band", ["--journal", journal])])
            try await bench.check("bad", expected, journal)
        }
    }

    @Test func `garbage between the lines is ignored, and a program of nothing but garbage harms nobody`() async throws
    {
        try await withBench { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            let noise = "{id: noise, name: noise, driver: link, transport: {type: exec, command: [\"yes\", \"{]\"]}}"
            try bench.configure([noise, bench.execDevice("band", ["--garbage", "--page-size", "7"])])
            _ = bench.startGateway()
            let consumer = Consumer()
            expected.check(try await bench.wait(for: 68, by: consumer).samples)
            for id in ["one", "two"] {
                let answer = try await bench.command("band/command/sync", id: id)
                #expect(answer["status"]?.asString == "done")
            }
        }
    }
}

extension Bench {
    /// Waits until one device is in an error state, and checks that the other is still served on its first connection.
    fileprivate func check(_ bad: String, _ expected: HeartRates, _ journal: String) async throws {
        _ = startGateway()
        let link = try await message("\(bad)/link") { $0.json["state"]?.asString == "waiting" }
        #expect(link.json["last_error"]?.asString?.isEmpty == false)
        let consumer = Consumer()
        expected.check(try await wait(for: 68, by: consumer).samples)
        let answer = try await command("band/command/sync", id: "untouched")
        #expect(answer["status"]?.asString == "done")
        #expect(try Journal(journal).methods.count { $0 == "initialize" } == 1)
    }
}
