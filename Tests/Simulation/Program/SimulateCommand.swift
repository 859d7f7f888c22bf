import ArgumentParser
import Foundation
import GatewaySimulation

/// Runs whole gateways in simulated time, each decided by a seed.
@main
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs whole gateways in simulated time: devices, broker, disk, clock and process as seeds decide.",
        discussion: """
            Each run is a random six minutes of faults and a quarter of an hour of peace. A seed fails if a sample is lost, \
            invented or changed, if something goes back in time, if an accepted command has no final answer, if what the broker \
            did not take is not reported or does not come on request, or if it does not end. The status is 1 if a seed fails.
            """)

    @Option(help: "How many seeds to run.")
    var seeds: UInt64 = 100

    @Option(help: "The first seed.")
    var first: UInt64 = 0

    @Option(help: "Runs only this seed, and prints what happened, when, and to whom.")
    var seed: UInt64?

    @Option(help: "How many runs go on at once; by default, one on each core.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Option(help: "Begins no run after so many seconds, and says how many seeds are left; by default, it runs all.")
    var within: Int?

    @Flag(help: "Runs each seed a second time, which must be the same run.")
    var twice = false

    func validate() throws {
        guard seeds > 0 else { throw ValidationError("--seeds needs a number from 1 on.") }
        guard within ?? 1 > 0 else { throw ValidationError("--within needs a number of seconds from 1 on.") }
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs needs a number from 1 to 256.") }
        guard first.addingReportingOverflow(seeds).overflow == false else {
            throw ValidationError("--first and --seeds go beyond the last seed, \(UInt64.max).")
        }
    }

    func run() throws {
        let succeeded =
            if let seed { try Account.print(of: seed) } else {
                SeedRun(seeds: first..<first + seeds, runsTwice: twice, within: within.map { .seconds($0) })
                    .run(jobs: jobs)
            }
        if !succeeded { throw ExitCode.failure }
    }
}
