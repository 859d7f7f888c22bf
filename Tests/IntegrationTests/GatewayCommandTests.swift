import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing

/// Commands to the gateway itself.
@Suite(.timeLimit(.minutes(10)))
struct GatewayCommandTests {
    @Test func `replay sends the same numbers with the same samples again, and says so`() async throws {
        try await withBench { bench in
            try await bench.start([bench.execDevice("band", ["--page-size", "20"])], synced: "band")
            let consumer = Consumer()
            try await bench.wait(for: 68, by: consumer)
            let originals = bench.messages("band/measurement/heart_rate").map(\.json)
            let numbers = originals.compactMap { $0["seq"]?.asInt }
            let first = try #require(numbers.min())
            let last = try #require(numbers.max())

            let start = bench.position
            let answer = try await bench.command(
                "gateway/command/replay", id: "replay", "\"from_seq\":\(first),\"to_seq\":\(last)")
            #expect(answer["status"]?.asString == "done")
            let again = try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                let numbers = messages[start...].compactMap { message in
                    message.topic.contains("/measurement/") ? message.json["seq"]?.asInt : nil
                }
                return numbers.count >= originals.count
            }[start...].filter { $0.topic.contains("/measurement/") }.map(\.json)
            #expect(again.map { $0["seq"] } == originals.map { $0["seq"] })
            #expect(again.map { $0["samples"] } == originals.map { $0["samples"] })
            #expect(again.allSatisfy { $0["source"]?.asString == "replay" })
        }
    }

    @Test func `sync asks every device, and rediscover publishes the state again`() async throws {
        try await withBench { bench in
            let journals = [bench.path("a"), bench.path("b")]
            try await bench.start(
                [
                    bench.execDevice("band", ["--journal", journals[0]]),
                    bench.execDevice("ring", ["--journal", journals[1]]),
                ], synced: "band")
            try await bench.synced("ring")
            let start = bench.position
            let answer = try await bench.command("gateway/command/sync", id: "all")
            #expect(answer["status"]?.asString == "done")
            try await bench.synced("band", from: start)
            try await bench.synced("ring", from: start)
            for journal in journals {
                let reads = try Journal(journal).methods.count { $0 == "history/read" }
                #expect(reads == 2)
            }

            let again = bench.position
            let rediscovered = try await bench.command("gateway/command/rediscover", id: "again")
            #expect(rediscovered["status"]?.asString == "done")
            try await bench.message("band/info", from: again)
            try await bench.message("ring/latest/heart_rate", from: again)
        }
    }

    @Test func `reload adds and removes devices, and empties what stood about a removed one`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            let band = bench.execDevice("band", ["--journal", journal])
            let gateway = try await bench.start([band, bench.execDevice("old")], synced: "band")
            try await bench.synced("old")
            let consumer = Consumer()
            try await bench.wait(for: 136, by: consumer)

            try bench.configure([band, bench.execDevice("new")])
            let start = bench.position
            let answer = try await bench.command("gateway/command/reload", id: "reload")
            #expect(answer["status"]?.asString == "done")
            #expect(answer["data"]?["added"]?.asArray == ["new"])
            #expect(answer["data"]?["removed"]?.asArray == ["old"])
            #expect(answer["data"]?["changed"]?.asArray == [])
            try await bench.synced("new", from: start)
            try await bench.wait(for: 204, by: consumer)
            // A new subscriber gets no retained message of the old device.
            try await bench.message("old/info", from: start) { $0.payload.isEmpty }
            let mark = bench.position
            try await bench.publish("test/mark", "here", isRetained: true)
            try await bench.message("test/mark", from: mark)
            try await bench.server.withSubscriber { newcomer in
                let messages = try await newcomer.wait { $0.contains { $0.topic.hasSuffix("/test/mark") } }
                let left = messages.filter { $0.topic.hasPrefix("\(Bench.base)/old/") && $0.isRetained }
                #expect(left.map(\.topic) == [])
                #expect(messages.contains { $0.topic == "\(Bench.base)/new/info" })
            }
            let greetings = try Journal(journal).methods.count { $0 == "initialize" }
            #expect(greetings == 1, "The device that did not change is not touched.")

            // SIGHUP has the same effect.
            try bench.configure([band])
            let again = bench.position
            gateway.interrupt(.reload)
            try await bench.message("new/info", from: again) { $0.payload.isEmpty }
        }
    }

    @Test func `a configuration with errors changes nothing, and each is named with its line`() async throws {
        try await withBench { bench in
            let journal = bench.path("journal")
            let band = bench.execDevice("band", ["--journal", journal])
            let gateway = try await bench.start([band], synced: "band")
            try bench.configure([band, "{id: ring, driver: nonsense, colour: blue}"])
            let start = bench.position
            let answer = try await bench.command("gateway/command/reload", id: "error")
            #expect(answer["status"]?.asString == "failed")
            #expect(answer["code"]?.asString == "invalid")
            let violations = answer["violations"]?.asArray ?? []
            #expect(Set(violations.compactMap { $0["path"]?.asString }) == ["devices[1].driver", "devices[1].colour"])
            #expect(violations.allSatisfy { $0["message"]?.asString?.hasPrefix("line 6: ") ?? false })
            let state = try await bench.message("gateway/state", from: start) {
                $0.json["last_error"]?.asString?.contains("nonsense") ?? false
            }
            #expect(state.json["broker"]?.asString == "connected" && state.json["protocol"]?.asString == "5")
            #expect(gateway.events.elements.contains { $0.text.contains("devices[1].colour") })

            // Changes that need a restart are reported, too, and then the rest of the file is not applied.
            try bench.configure([band, "{id: ring, driver: simulator}"], zone: "Asia/Kathmandu")
            let moved = try await bench.command("gateway/command/reload", id: "moved")
            #expect(moved["status"]?.asString == "failed")
            #expect(moved["message"]?.asString?.contains("A change of gateway needs a restart") ?? false)
            #expect(moved["violations"]?[0]?["path"]?.asString == "gateway")

            let sync = try await bench.command("band/command/sync", id: "still-there")
            #expect(sync["status"]?.asString == "done")
            let greetings = try Journal(journal).methods.count { $0 == "initialize" }
            #expect(greetings == 1, "Nothing was touched.")
            #expect(bench.messages("ring/info").isEmpty)
        }
    }

    @Test func `an id that occurs twice is named, whatever else is wrong with its entry`() async throws {
        try await withBench { bench in
            try await bench.start([bench.execDevice("band")], synced: "band")
            try bench.configure([bench.execDevice("band"), "{id: band, driver: nonsense, colour: blue}"])
            let answer = try await bench.command("gateway/command/reload", id: "twice")
            #expect((answer["status"]?.asString, answer["code"]?.asString) == ("failed", "invalid"))
            let paths = answer["violations"]?.asArray?.compactMap { $0["path"]?.asString } ?? []
            #expect(Set(paths) == ["devices[1].id", "devices[1].driver", "devices[1].colour"])

            let check = bench.programs.start(
                Repository.gateway, ["check-config", "--config", bench.path("gateway.yaml")])
            try await check.end(within: Bench.timeout)
            #expect(check.events.elements.contains { $0.text.contains("devices[1].id") }, "\(check.events.elements)")
            #expect(check.events.elements.last?.text != "ended: exited(0)")
        }
    }
}
