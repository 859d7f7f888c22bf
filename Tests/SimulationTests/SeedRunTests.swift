import ArgumentParser
import Testing

@testable import vitals2mqtt_simulate

/// How many seeds `Tests/Simulation/run` runs.
@Suite struct SeedRunTests {
    @Test func `no run begins after the time, and the seeds that are left are counted`() {
        let run = SeedRun(seeds: 7..<10, runsTwice: false, within: .zero)
        #expect(run.run(jobs: 2))
        #expect(run.left == 3)
    }

    @Test func `all seeds that there are can be left`() {
        let run = SeedRun(seeds: 0..<UInt64.max, runsTwice: false, within: .zero)
        #expect(run.run(jobs: 1))
        #expect(run.left == UInt64.max)
    }

    @Test func `all seeds that have time are run`() {
        let run = SeedRun(seeds: 7..<9, runsTwice: false, within: .seconds(600))
        #expect(run.run(jobs: 2))
        #expect(run.left == 0)
    }

    @Test(arguments: [["--within", "0"], ["--seeds", "0"], ["--jobs", "257"]])
    func `a number beyond its limits is refused`(arguments: [String]) {
        #expect(throws: (any Error).self) { try SimulateCommand.parse(arguments) }
    }
}
