import Foundation
import GatewaySimulation
import Synchronization
import Testing

/// The whole gateway with random seeds: nothing is lost or invented, nothing goes back in time, every accepted command has its
/// final answer, and each run is repeatable. `Tests/Simulation/run` runs thousands of them.
@Suite struct SeedTests {
    /// Seeds per test, so that many seeds are few lines of the report.
    private static let seedsPerTest = 25
    /// The number of seeds: some minutes on a small machine. `SIMULATION_SEEDS=1000` runs more.
    private static let seedCount =
        ProcessInfo.processInfo.environment["SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 50

    private static let batches = stride(from: 0, to: seedCount, by: seedsPerTest).map { first in
        first..<min(first + UInt64(seedsPerTest), seedCount)
    }

    @Test(arguments: batches) func `no seed loses a sample, and each replays exactly`(seeds: Range<UInt64>) throws {
        for seed in seeds {
            let first = try SeededRun.run(seed: seed)
            #expect(first.issues.isEmpty, "seed \(seed): \(first.issues.prefix(5))")
            #expect(first.messages > 100, "seed \(seed) had nothing to say")
            let second = try SeededRun.run(seed: seed)
            #expect(first == second, "seed \(seed) does not replay")
        }
    }

    @Test func `without faults everything arrives as it is measured`() throws {
        var plan = Environment.Plan()
        plan.brokerFaults = false
        plan.brokerRefusals = false
        plan.deviceFaults = false
        plan.crashes = false
        plan.storeFaults = false
        plan.clockFaults = false
        let run = try SeededRun.run(seed: 7, plan: plan)
        #expect(run.issues.isEmpty, "\(run.issues)")
        #expect(run.restarts == 0)
        // The first report, and the one after connecting, come immediately.
        let reports = run.reports.dropFirst(2)
        #expect(reports.count > 5)
        for (report, next) in zip(reports, reports.dropFirst()) { #expect(next - report >= .milliseconds(9_900)) }
    }

    @Test func `seeds have sensors without contact, before and during their run, and each is reported`() throws {
        var (losses, earlier) = (0, 0)
        for seed: UInt64 in 0..<20 {
            let recorder = AccountRecorder()
            _ = try SeededRun.run(seed: seed) { recorder.record($0) }
            let events = recorder.lines.map(\.event)
            let lost = events.count { $0.hasPrefix("loses contact for ") }
            let kept = events.count { $0.hasPrefix("has ") && $0.hasSuffix(" measurements without contact") }
            let reported = events.count { $0.contains("/event/gap ") && $0.contains(#""refused":{"out_of_range":"#) }
            #expect(
                reported > 0 || lost + kept == 0, "seed \(seed) reports none of its \(lost + kept) losses of contact")
            (losses, earlier) = (losses + lost, earlier + kept)
        }
        #expect(losses > 10)
        #expect(earlier > 0, "no wearable has kept zeros from before")
    }

    @Test func `a flood of commands is answered whole, and what did not fit in as busy`() throws {
        for seed: UInt64 in [107, 239] {
            let recorder = AccountRecorder()
            let run = try SeededRun.run(seed: seed) { recorder.record($0) }
            #expect(run.issues.isEmpty, "seed \(seed): \(run.issues.prefix(5))")
            let events = recorder.lines.map(\.event)
            let refused = events.count {
                $0.contains("/response ") && $0.contains(#""status":"rejected","code":"busy""#)
            }
            #expect(refused > 100, "seed \(seed) refuses \(refused) commands")
        }
    }

    @Test func `the loss of a damaged store is reported for each device, also if the gateway crashes`() throws {
        for seed: UInt64 in [36, 127, 209] {
            let recorder = AccountRecorder()
            let run = try SeededRun.run(seed: seed) { recorder.record($0) }
            #expect(run.issues.isEmpty, "seed \(seed): \(run.issues.prefix(5))")
            let events = recorder.lines.map(\.event)
            let damage = try #require(events.firstIndex(of: "damages the store"), "seed \(seed) damages nothing")
            // The first end is that of the gateway whose store is damaged after it.
            let ends = events.indices.filter { $0 > damage && events[$0] == "is gone" }
            let crash = try #require(ends.dropFirst().first, "seed \(seed) has no crash after the damage")
            func reported(_ range: some RangeExpression<Int>) -> Int {
                Set(
                    events[range].compactMap { event in
                        event.contains(#""reason":"store_reset""#) ? event.prefix { $0 != " " } : nil
                    }
                ).count
            }
            #expect(reported(damage...crash) < 3, "seed \(seed) reports all before the crash")
            #expect(reported(crash...) == 3, "seed \(seed) does not report all after it")
        }
    }

    @Test func `a seed's account says what happened to whom, in order, and changes nothing`() throws {
        let recorder = AccountRecorder()
        let run = try SeededRun.run(seed: 5) { recorder.record($0) }
        #expect(try SeededRun.run(seed: 5) == run)
        let lines = recorder.lines
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.uptime <= $1.uptime })
        let parties = Set(lines.map(\.party))
        #expect(parties.isSuperset(of: ["simulation", "gateway", "wearable-1", "log"]))
        #expect(lines.contains { $0.event.hasPrefix("vitals2mqtt/home/wearable-1/measurement/") })
        #expect(lines.filter { $0.party == "gateway" && $0.event == "is gone" }.count == run.restarts)
    }
}

/// Keeps the account of a run.
private final class AccountRecorder: Sendable {
    private let recorded = Mutex<[Trace.Line]>([])
    var lines: [Trace.Line] { recorded.withLock { $0 } }
    func record(_ lines: [Trace.Line]) { recorded.withLock { $0 = lines } }
}
