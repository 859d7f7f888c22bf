import JSON
import TestSupport
import Testing

/// A device's history, from its file to the subscriber.
@Suite(.timeLimit(.minutes(10)))
struct HistoryTests {
    @Test(arguments: ["tcp", "exec"])
    func `every record arrives with its time and value, once per id, over a kill and a second synchronisation`(
        transport: String
    ) async throws {
        try await withBench { bench in
            let expected = try await HeartRates(of: "band", on: bench)
            let journal = bench.path("journal")
            let arguments = ["--page-size", "2", "--journal", journal]
            if transport == "tcp" {
                let device = try await bench.startDevice(Repository.device, arguments)
                try bench.configure([bench.tcpDevice("band", port: device.port)])
            } else {
                try bench.configure([bench.execDevice("band", arguments)])
            }
            let consumer = Consumer()
            for count in [1, 12, 30] {
                let gateway = bench.startGateway()
                try await bench.wait(for: count, by: consumer)
                try await bench.end(gateway, by: .kill)
                try await bench.gone()
            }

            let restart = bench.position
            _ = bench.startGateway()
            try await bench.synced("band", from: restart)
            let known = try await bench.wait(for: 68, by: consumer)
            expected.check(known.samples)
            #expect(known.issues.isEmpty)

            let answer = try await bench.command("band/command/sync", id: "again")
            #expect(answer["status"]?.asString == "done", "\(answer)")
            #expect(answer["data"]?["samples_new"]?.asInt == 0)
            let after = consumer.read(bench.subscriber.messages)
            expected.check(after.samples)
            #expect(after.issues.isEmpty)
            #expect(after.holes.isEmpty)
        }
    }
}
