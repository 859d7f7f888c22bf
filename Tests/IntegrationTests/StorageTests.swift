import GatewayTesting
import JSON
import TestSupport
import Testing

/// A store that is not writable, or is damaged.
@Suite(.timeLimit(.minutes(10)))
struct StorageTests {
    @Test func `on a full disk nothing more is acknowledged, the gateway stays up, and nothing is lost`() async throws {
        try await withBench { bench in
            let device = try await LoadDevice("band", on: bench)
            try bench.configure([bench.tcpDevice("band", port: device.port), bench.execDevice("ring")])
            let gateway = bench.startGateway(fileLimit: 1_024)
            let consumer = Consumer()
            try await gateway.says(" error ")
            // Commands are still answered.
            let answer = try await bench.command("nobody/command/sync", id: "full")
            #expect(answer["code"]?.asString == "unknown_device")
            let stuck = try await bench.command("band/command/sync", id: "full-too")
            #expect(["done", "failed", "rejected"].contains(stuck["status"]?.asString))
            #expect(!gateway.events.elements.contains { $0.isEnd })
            try await bench.end(gateway, by: .kill)

            _ = bench.startGateway()
            try await device.wait(for: device.acknowledged + 100)
            let known = try await bench.wait(for: device.end(on: bench), by: consumer)
            #expect(known.issues.isEmpty)
            #expect(known.holes.isEmpty)
        }
    }

    /// Damages the first page of the samples. The start, which must be quick, does not read that page.
    private static let damage = """
        import sqlite3, sys
        path = sys.argv[1]
        find = "SELECT rootpage FROM sqlite_master WHERE name = 'sample'"
        database = sqlite3.connect(path)
        root, size = database.execute(find).fetchone()[0], database.execute("PRAGMA page_size").fetchone()[0]
        with open(path, "r+b") as file:
            file.seek((root - 1) * size)
            file.write(b"Z" * size)
        """

    @Test func `a store that shows its damage late ends the gateway, and the next one begins anew`() async throws {
        try await withBench { bench in
            try bench.configure([bench.execDevice("band")])
            let first = bench.startGateway()
            try await bench.wait(for: 68, by: Consumer())
            try await bench.end(first, by: .end)
            let spoiler = bench.programs.start("python3", ["-c", Self.damage, bench.path("vitals.sqlite")])
            try await spoiler.end(within: Bench.timeout)
            #expect(spoiler.events.elements.map(\.text) == ["ended: exited(0)"])

            let second = bench.startGateway()
            try await second.end(within: Bench.timeout)
            #expect(second.events.elements.last?.text == "ended: exited(70)")
            #expect(second.events.elements.contains { $0.text.contains("The store is damaged") })

            let start = bench.position
            _ = bench.startGateway()
            let gap = try await bench.message("band/event/gap", from: start)
            #expect(gap.json["reason"]?.asString == "store_reset")
            let again = Consumer()
            try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                again.read(Array(messages[start...])).samples.count == 68
            }
        }
    }
}
