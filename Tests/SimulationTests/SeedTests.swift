import Foundation
import GatewayTesting
import MQTT
import Messages
import Synchronization
import Testing
import Vitals

/// The whole gateway with random seeds: nothing is lost or invented, nothing goes back in time, and each run is
/// repeatable.
@Suite struct SeedTests {
    /// Seeds per test, so that a thousand seeds are forty lines of the report.
    private static let seedsPerTest = 25
    /// The number of seeds: some minutes on a small machine. `SIMULATION_SEEDS=1000` runs more.
    private static let seedCount =
        ProcessInfo.processInfo.environment["SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 100

    private static let batches = stride(from: 0, to: seedCount, by: seedsPerTest).map { first in
        first..<min(first + UInt64(seedsPerTest), seedCount)
    }

    /// Some minutes before midnight in UTC, Berlin, New York and Kathmandu, and before both clock changes in Berlin.
    private static let starts = [
        "2026-01-01T00:00:00Z", "2026-01-31T22:52:00Z", "2026-02-28T04:52:00Z", "2026-07-01T18:07:00Z",
        "2026-03-29T00:52:00Z", "2026-10-25T00:52:00Z",
    ].compactMap { Timestamp(rfc3339: $0) }

    struct Outcome: Sendable, Hashable {
        var fingerprint: UInt64
        var mistakes: [String]
        var messages: Int
        var restarts: Int
        /// When `gateway/state` was published.
        var reports: [Duration]
    }

    static func run(seed: UInt64, plan: World.Plan = World.Plan()) throws -> Outcome {
        let start = Self.starts[Int(seed % UInt64(Self.starts.count))]
        let simulation = Simulation(seed: seed, start: start)
        return try simulation.run(deadline: .hours(3)) { simulation in
            let world = try World(simulation: simulation, plan: plan)
            defer { world.stores.remove() }
            try await world.run()
            let findings = Findings(
                world.observation.messages, truth: world.wearables,
                days: plan.zoneChanges ? nil : world.calendar.withLock { $0 })
            return Outcome(
                fingerprint: simulation.fingerprint, mistakes: findings.mistakes,
                messages: world.observation.messages.count, restarts: world.restarts.withLock { $0 },
                reports: world.observation.messages.filter { $0.message.topic.hasSuffix("gateway/state") }
                    .map(\.uptime))
        }
    }

    @Test(arguments: batches) func `no seed loses a sample, and each replays exactly`(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var plan = World.Plan()
            plan.zoneChanges = seed % 4 == 3
            let first = try Self.run(seed: seed, plan: plan)
            #expect(first.mistakes.isEmpty, "seed \(seed): \(first.mistakes.prefix(5))")
            #expect(first.messages > 100, "seed \(seed) had nothing to say")
            let second = try Self.run(seed: seed, plan: plan)
            #expect(first == second, "seed \(seed) does not replay")
        }
    }

    @Test func `without faults everything arrives as it is measured`() throws {
        var plan = World.Plan()
        plan.brokerFaults = false
        plan.deviceFaults = false
        plan.crashes = false
        plan.storeFaults = false
        plan.clockFaults = false
        let outcome = try Self.run(seed: 7, plan: plan)
        #expect(outcome.mistakes.isEmpty, "\(outcome.mistakes)")
        #expect(outcome.restarts == 0)
        // The first report, and the one after connecting, come immediately.
        let reports = outcome.reports.dropFirst(2)
        #expect(reports.count > 5)
        for (report, next) in zip(reports, reports.dropFirst()) { #expect(next - report >= .milliseconds(9_900)) }
    }
}
