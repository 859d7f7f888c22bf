import Foundation
import JSON
import TestSupport
import Testing

/// A Home Assistant that takes connections and never answers.
@Suite(.timeLimit(.minutes(10)))
struct SilentHomeAssistantTests {
    private static let server = """
        import socket
        server = socket.socket()
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        print("listening", server.getsockname()[1], flush=True)
        connections = []
        while True: connections.append(server.accept())
        """

    @Test func `it is in the way of no sample and of no stop, and the state reports it`() async throws {
        try await withBench { bench in
            let home = bench.programs.start("python3", ["-c", Self.server])
            let events = try await home.events.wait(within: Bench.timeout) { events in
                events.contains { $0.text.hasPrefix("listening ") }
            }
            let line = try #require(events.map(\.text).first { $0.hasPrefix("listening ") })
            try "token\n".write(toFile: bench.path("token"), atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bench.path("token"))
            try """
            gateway: {id: home, timezone: Europe/Berlin}
            mqtt: {url: "mqtt://127.0.0.1:\(bench.server.port)"}
            store: {path: vitals.sqlite}
            home_assistant: {url: "http://127.0.0.1:\(line.dropFirst("listening ".count))", token: {file: token}}
            devices:
              - {id: band, driver: simulator, options: {model: band}}
              - {id: clip, driver: simulator, options: {model: oximeter}}

            """.write(toFile: bench.path("gateway.yaml"), atomically: true, encoding: .utf8)
            let gateway = bench.startGateway()
            try await bench.synced("band")
            try await bench.synced("clip")
            // The import has begun to wait, and gives up.
            try await bench.message("gateway/state") { $0.json["statistics"]?["activity"]?.asString == "offline" }
            let from = bench.position
            // A band streams nothing while it is charged, at 20:00; a clip measures at any time.
            try await bench.publish(
                "clip/command/measure", #"{"metric":"heart_rate","action":"start","duration_s":5}"#)
            try await bench.message("clip/measurement/heart_rate", from: from) {
                $0.json["source"]?.asString == "measure"
            }
            let begin = ContinuousClock.now
            try await bench.end(gateway, by: .end)
            // A stop has five seconds; the rest is a reserve for a busy machine.
            #expect(ContinuousClock.now - begin < .seconds(15))
            #expect(!gateway.events.elements.contains { $0.text.contains("held up") })
        }
    }
}
