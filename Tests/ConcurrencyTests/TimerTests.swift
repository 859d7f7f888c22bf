import Concurrency
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@Suite struct TimerTests {
    /// Runs a test with timers on simulated time, in many orders of jobs.
    private static func everyOrder(
        _ body: @escaping @Sendable (Simulation, Timers) async throws -> Void
    ) throws {
        for seed in 0..<20 {
            try Simulation.run(seed: UInt64(seed), deadline: .hours(1)) { environment in
                let clock = environment.gatewayClock
                let timers = Timers(uptime: { clock.uptime }, sleep: { try await clock.sleep(for: $0) })
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await timers.run() }
                    try await body(environment, timers)
                    group.cancelAll()
                }
            }
        }
    }

    @Test func `each fires once, at its time, in whatever order they are set`() throws {
        try Self.everyOrder { environment, timers in
            let fired = Recorder<Int>()
            let start = environment.uptime
            var random = environment.random()
            for second in (1...100).shuffled(using: &random) {
                _ = timers.set(after: .seconds(second)) {
                    #expect(environment.uptime - start == .seconds(second))
                    fired.append(second)
                }
            }
            #expect(timers.count == 100)
            try await environment.gatewayClock.sleep(for: .minutes(10))
            #expect(fired.elements == Array(1...100))
            #expect(timers.count == 0)
        }
    }

    @Test func `a timer that is earlier than all others is not missed`() throws {
        try Self.everyOrder { environment, timers in
            let fired = Recorder<Duration>()
            for seconds in [300, 60, 1] {
                try await environment.gatewayClock.sleep(for: .seconds(1))
                let due = environment.uptime + .seconds(seconds)
                _ = timers.set(after: .seconds(seconds)) { fired.append(environment.uptime - due) }
            }
            try await environment.gatewayClock.sleep(for: .minutes(6))
            #expect(fired.elements == [.zero, .zero, .zero])
        }
    }

    @Test func `a timer that was taken back does not fire, and the others do`() throws {
        try Self.everyOrder { environment, timers in
            let fired = Recorder<Int>()
            // More than stay in the heap after they were taken back.
            let all = (0..<1_000).map { number in timers.set(after: .seconds(10)) { fired.append(number) } }
            for (number, timer) in all.enumerated() where number % 10 != 0 { timers.cancel(timer) }
            #expect(timers.count == 100)
            try await environment.gatewayClock.sleep(for: .seconds(11))
            #expect(fired.elements.sorted() == Array(stride(from: 0, to: 1_000, by: 10)))
        }
    }

    @Test func `timers that may be late fire together, none of them early or later than they may`() throws {
        try Self.everyOrder { environment, timers in
            let fired = Recorder<Duration>()
            var random = environment.random()
            for _ in 0..<200 {
                let due = environment.uptime + .milliseconds(Int.random(in: 0...5_000, using: &random))
                _ = timers.set(after: due - environment.uptime, tolerance: .milliseconds(250)) {
                    #expect(environment.uptime >= due)
                    #expect(environment.uptime - due <= .milliseconds(250))
                    fired.append(environment.uptime)
                }
            }
            try await environment.gatewayClock.sleep(for: .seconds(6))
            #expect(fired.elements.count == 200)
            #expect(Set(fired.elements).count <= 21)
        }
    }

    @Test func `an action may set and take back timers`() throws {
        try Self.everyOrder { environment, timers in
            let fired = Recorder<String>()
            let late = timers.set(after: .seconds(20)) { fired.append("late") }
            _ = timers.set(after: .seconds(10)) {
                timers.cancel(late)
                _ = timers.set(after: .zero) { fired.append("at once") }
            }
            try await environment.gatewayClock.sleep(for: .minutes(1))
            #expect(fired.elements == ["at once"])
        }
    }
}
