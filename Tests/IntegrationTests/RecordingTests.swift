import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// A device that is recorded by one run of the shipped program, and played by the next one.
@Suite(.timeLimit(.minutes(10)))
struct RecordingTests {
    /// What a consumer compares: all of a sample but its identity, which depends on the device's id.
    private func samples(_ device: String, _ bench: Bench) -> [JSONValue] {
        let fields = ["start", "end", "kind", "user_initiated", "value"]
        return bench.messages("\(device)/measurement/heart_rate")
            .flatMap { $0.json["samples"]?.asArray ?? [] }
            .map { sample in .object(fields.map { .init($0, sample[$0] ?? .null) }) }
    }

    @Test func `a consumer gets the same samples from a replay as from the device`() async throws {
        try await withBench { bench in
            let file = bench.path("band.recording")
            try bench.configure([bench.execDevice("band", ["--page-size", "20"])])
            let first = bench.startGateway(["--record", file])
            try await bench.synced("band")
            let consumer = Consumer()
            try await bench.wait(for: 68, by: consumer)
            try await bench.end(first, by: .end)
            let recorded = samples("band", bench)
            #expect(recorded.count == 68)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.hasSuffix("\"event\":\"stop\",\"reason\":\"done\"}\n"))
            let count = text.count { $0 == "\n" }
            #expect(first.events.elements.contains { $0.text == "\(count) lines are in \(file)." })
            // The serial number of the example, `csv-1`, in hexadecimal digits.
            #expect(!text.contains("6373762d31"))

            try bench.configure([
                "{id: again, driver: link, transport: {type: replay, path: \(file), device: band, speed: max}}"
            ])
            let start = bench.position
            _ = bench.startGateway()
            try await bench.synced("again", from: start)
            let known = try await bench.wait(for: 136, by: consumer)
            #expect(known.issues.isEmpty && known.holes.isEmpty, "\(known.issues) \(known.holes)")
            #expect(samples("again", bench) == recorded)
        }
    }

    @Test func `a gateway that cannot begin leaves no recording, and one file is not written twice`() async throws {
        try await withBench { bench in
            let file = bench.path("new.recording")
            try bench.configure(["{id: band}"])
            let bad = bench.startGateway(["--record", file])
            try await bad.end(within: Bench.timeout)
            #expect(!FileManager.default.fileExists(atPath: file))
            try "mine".write(toFile: file, atomically: true, encoding: .utf8)
            let again = bench.startGateway(["--record", file])
            try await again.end(within: Bench.timeout)
            let said = again.events.elements.map(\.text).joined()
            #expect(said.contains("exists already. Name a new file, or remove it."), "\(said)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        }
    }
}
