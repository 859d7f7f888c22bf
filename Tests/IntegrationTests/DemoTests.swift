import MQTT
import TestSupport
import Testing

/// `vitals2mqtt demo`.
@Suite(.timeLimit(.minutes(10)))
struct DemoTests {
    @Test func `the demo has topics of its own, and leaves nothing at the broker`() async throws {
        try await withBench { bench in
            let url = "mqtt://127.0.0.1:\(bench.server.port)"
            let listen = "127.0.0.1:\(try freePort())"
            let demo = bench.programs.start(Repository.gateway, ["demo", "--broker", url, "--listen", listen])
            try await demo.says("The page is at http://\(listen)/")
            for topic in [
                "vitals2mqtt/demo/band/latest/heart_rate", "homeassistant/device/vitals2mqtt_demo_cuff/config",
            ] {
                _ = try await bench.subscriber.first(deadline: Bench.timeout) { $0.topic == topic }
            }
            let page = "curl --silent --show-error http://\(listen)/devices/band | grep -o 'Newest [0-9]* bpm'"
            let asked = bench.programs.start("bash", ["-c", page])
            try await asked.end(within: Bench.timeout)
            #expect(asked.events.elements.last?.text == "ended: exited(0)", "\(asked.events.elements.map(\.text))")
            demo.interrupt(.end)
            try await demo.end(within: Bench.timeout)
            #expect(demo.events.elements.last?.text == "ended: exited(0)")
            #expect(!bench.subscriber.messages.contains { $0.topic.hasPrefix("vitals2mqtt/home/") })
            try await bench.server.withSubscriber { late in
                try await bench.server.publish(OutgoingMessage(topic: "end", payload: Array("x".utf8)))
                let messages = try await late.wait { messages in messages.contains { $0.topic == "end" } }
                #expect(messages.map(\.topic) == ["end"])
            }
        }
    }
}
