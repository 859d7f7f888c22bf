import MQTT
import TestSupport
import Testing

/// Values that others publish at the broker, through a real one to the whole gateway.
@Suite(.timeLimit(.minutes(10)))
struct ValueMessageTests {
    private static let device = """
        {id: scale, driver: mqtt-values, options: {topics: [{topic: scale/live, values: [{metric: weight}]}, \
        {topic: scale/kept, values: [{metric: weight, path: weight, unit_path: unit, time: at}]}]}}
        """

    private func publish(_ bench: Bench, _ topic: String, _ payload: String, isRetained: Bool = false) async throws {
        try await bench.server.publish(
            OutgoingMessage(topic: topic, payload: Array(payload.utf8), isRetained: isRetained), as: bench.account)
    }

    /// Publishes a weight until it arrives: the gateway subscribes some moments after its start. All of them are one measurement.
    private func publishUntilTaken(_ bench: Bench, _ weight: Int) async throws {
        let end = ContinuousClock.now + Bench.timeout
        while !bench.values("scale", "weight").contains(weight) {
            try #require(ContinuousClock.now < end, "\(weight)")
            try await publish(bench, "scale/live", "\(weight)")
            _ = try? await bench.subscriber.wait(deadline: .seconds(1)) { messages in
                messages.contains {
                    $0.topic == "\(Bench.base)/scale/measurement/weight" && $0.text.contains("\(weight)")
                }
            }
        }
    }

    @Test func `values of others are samples once, over restarts of the gateway`() async throws {
        try await withBench(watching: "\(Bench.base)/#") { bench in
            try bench.configure([Self.device])
            // The one has a time, and is the same each time; the age of the other is unknown.
            let kept = #"{"weight":80000,"unit":"g","at":"2026-01-05T12:00:00Z"}"#
            try await publish(bench, "scale/kept", kept, isRetained: true)
            try await publish(bench, "scale/live", "90", isRetained: true)
            for weight in [60, 61] {
                let gateway = bench.startGateway()
                try await publishUntilTaken(bench, weight)
                try await bench.end(gateway, by: .end)
            }
            #expect(bench.values("scale", "weight") == [60, 61, 80])
            let gateway = bench.startGateway()
            try await publishUntilTaken(bench, 62)
            // What the gateway gets while it is connected is not lost, however much it is.
            for weight in 100..<160 { try await publish(bench, "scale/live", "\(weight)") }
            try await publishUntilTaken(bench, 160)
            #expect(bench.values("scale", "weight") == [60, 61, 62, 80] + Array(100...160))
            try await bench.end(gateway, by: .end)
        }
    }
}
