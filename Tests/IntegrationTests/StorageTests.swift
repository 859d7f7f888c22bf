import GatewayTesting
import JSON
import Testing

/// A store that cannot be written.
@Suite(.timeLimit(.minutes(10)))
struct StorageTests {
    @Test func `on a full disk nothing more is acknowledged, the gateway stays up, and nothing is lost`() async throws {
        try await withBench { bench in
            let device = try await LoadDevice("band", on: bench)
            try bench.configure([bench.tcpDevice("band", port: device.port), bench.execDevice("ring")])
            let gateway = bench.startGateway(fileLimit: 1_024)
            let consumer = Consumer()
            try await gateway.events.wait(within: Bench.patience) { events in
                events.contains { $0.text.contains(" error ") }
            }
            // Commands are answered all the same.
            let answer = try await bench.command("nobody/command/sync", id: "full")
            #expect(answer["code"]?.asString == "unknown_device")
            let stuck = try await bench.command("band/command/sync", id: "full-too")
            #expect(["done", "failed", "rejected"].contains(stuck["status"]?.asString))
            #expect(!gateway.events.elements.contains { $0.isEnd })
            try await bench.end(gateway, by: .kill)

            _ = bench.startGateway()
            try await device.wait(for: device.acknowledged + 100)
            let known = try await bench.wait(for: device.end(on: bench), by: consumer)
            #expect(known.mistakes.isEmpty)
            #expect(known.holes.isEmpty)
        }
    }
}
