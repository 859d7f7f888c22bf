import Concurrency
import GatewayKit
import GatewayTesting
import Testing
import Vitals

@Suite struct StepProbeTests {
    @Test func `a part answers at once until its step is due, and with that step afterwards`() throws {
        for seed in UInt64(0)..<20 {
            try Simulation.run(seed: seed, deadline: .minutes(10)) { environment in
                let probe = StepProbe()
                let clock = environment.gatewayClock
                func answers() async -> Bool {
                    await clock.withTimeout(.seconds(5)) { await probe.answer(at: clock.uptime) } != nil
                }
                #expect(await answers(), "nothing is due yet")
                probe.step(nextBy: clock.uptime + .seconds(60))
                try await clock.sleep(for: .seconds(59))
                #expect(await answers())
                try await clock.sleep(for: .seconds(2))
                #expect(await !answers())
                let asked = clock.uptime
                await withDiscardingTaskGroup { group in
                    group.addTask { await probe.answer(at: clock.uptime) }
                    try? await clock.sleep(for: .seconds(20))
                    probe.step(nextBy: clock.uptime + .seconds(60))
                }
                #expect(clock.uptime - asked == .seconds(20))
                #expect(await answers())
                probe.step(nextBy: nil)
                try await clock.sleep(for: .minutes(3))
                #expect(await answers(), "nothing is due any more")
            }
        }
    }
}
