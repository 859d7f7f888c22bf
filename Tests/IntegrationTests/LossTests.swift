import Foundation
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

/// Checks that nothing acknowledged to a device is lost, despite an absent broker and `kill -9`.
@Suite(.timeLimit(.minutes(20)))
struct LossTests {
    /// Kills in one run; the variable `KILL_ROUNDS` overrides it.
    private static let rounds = ProcessInfo.processInfo.environment["KILL_ROUNDS"].flatMap { Int($0) } ?? 10
    /// Samples per second of the device. The broker stays offline until a minute's worth of samples has been made.
    private static let pace = 50
    private static let outage = 60 * pace

    @Test(arguments: [true, false])
    func `every acknowledged sample arrives, however often the gateway is killed`(hasBroker: Bool) async throws {
        let seed =
            ProcessInfo.processInfo.environment["KILL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        print("Kills with the seed \(seed), the broker \(hasBroker ? "there" : "gone"): KILL_SEED=\(seed) repeats it.")
        var generator = SplitMix64(seed: seed)
        try await withBench { bench in
            let device = try await LoadDevice("load", on: bench)
            try bench.configure([bench.tcpDevice("load", port: device.port)])
            if !hasBroker { try await bench.server.stop() }
            for _ in 0..<Self.rounds {
                let gateway = bench.startGateway()
                // Kills at random moments, not only right after the start: some between two commits, some within one.
                try await device.wait(for: device.acknowledged + Int.random(in: 1...120, using: &generator))
                try await bench.end(gateway, by: .kill)
            }
            if !hasBroker { try await bench.server.start() }
            let last = bench.startGateway()
            try await device.wait(for: device.acknowledged + 1)
            let acknowledged = try await device.end(on: bench)
            let consumer = Consumer()
            try await bench.wait(for: acknowledged, by: consumer)
            try await bench.end(last, by: .end)
            let known = consumer.read(bench.subscriber.messages)
            #expect(known.issues.isEmpty)
            #expect(known.holes.isEmpty)
            #expect(acknowledged.count >= Self.rounds)
        }
    }

    @Test func `what came in a minute without a broker arrives in order, once per id, and latest never goes back`()
        async throws
    {
        try await withBench { bench in
            let band = try await LoadDevice("band", rate: 4 * Self.pace, on: bench)
            let ring = try await LoadDevice("ring", rate: Self.pace, on: bench)
            try bench.configure([
                bench.tcpDevice("band", port: band.port), bench.tcpDevice("ring", port: ring.port),
            ])
            _ = bench.startGateway()
            let consumer = Consumer()
            try await bench.wait(for: 100, by: consumer)

            try await bench.server.stop()
            let before = (band.acknowledged, ring.acknowledged)
            for part in 1...6 { try await ring.wait(for: before.1 + Self.outage * part / 6) }
            #expect(band.acknowledged > before.0 + Self.outage)
            try await bench.server.start()
            let acknowledged = try await band.end(on: bench) + ring.end(on: bench)
            let known = try await bench.wait(for: acknowledged, by: consumer)

            #expect(known.issues.isEmpty)
            #expect(known.holes.isEmpty)
            #expect(known.facts.keys.min() == 1)
            #expect(known.starts.count >= 2)
            for (series, starts) in known.starts { #expect(starts == starts.sorted(), "\(series)") }
            #expect(known.latest.count == 2)
        }
    }
}
