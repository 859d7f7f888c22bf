import Concurrency
import GatewayTesting
import Synchronization
import Testing
import Vitals

@Suite struct TimerTests {
    /// Runs a test with alarms on simulated time, in many orders of jobs.
    private static func everyOrder(
        _ body: @escaping @Sendable (Simulation, Timers) async throws -> Void
    ) throws {
        for seed in 0..<20 {
            try Simulation.run(seed: UInt64(seed), deadline: .hours(1)) { world in
                let clock = world.gatewayClock
                let timers = Timers(uptime: { clock.uptime }, sleep: { try await clock.sleep(for: $0) })
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await timers.run() }
                    try await body(world, timers)
                    group.cancelAll()
                }
            }
        }
    }

    @Test func `each rings once, at its time, in whatever order they are set`() throws {
        try Self.everyOrder { world, timers in
            let rung = Recorder<Int>()
            let start = world.uptime
            var random = world.random()
            for second in (1...100).shuffled(using: &random) {
                _ = timers.set(after: .seconds(second)) {
                    #expect(world.uptime - start == .seconds(second))
                    rung.append(second)
                }
            }
            #expect(timers.count == 100)
            try await world.gatewayClock.sleep(for: .minutes(10))
            #expect(rung.elements == Array(1...100))
            #expect(timers.count == 0)
        }
    }

    @Test func `an alarm that is earlier than all others is not missed`() throws {
        try Self.everyOrder { world, timers in
            let rung = Recorder<Duration>()
            for seconds in [300, 60, 1] {
                try await world.gatewayClock.sleep(for: .seconds(1))
                let due = world.uptime + .seconds(seconds)
                _ = timers.set(after: .seconds(seconds)) { rung.append(world.uptime - due) }
            }
            try await world.gatewayClock.sleep(for: .minutes(6))
            #expect(rung.elements == [.zero, .zero, .zero])
        }
    }

    @Test func `an alarm that was taken back does not ring, and the others do`() throws {
        try Self.everyOrder { world, timers in
            let rung = Recorder<Int>()
            // More than stay in the heap after they were taken back.
            let all = (0..<1_000).map { number in timers.set(after: .seconds(10)) { rung.append(number) } }
            for (number, timer) in all.enumerated() where number % 10 != 0 { timers.cancel(timer) }
            #expect(timers.count == 100)
            try await world.gatewayClock.sleep(for: .seconds(11))
            #expect(rung.elements.sorted() == Array(stride(from: 0, to: 1_000, by: 10)))
        }
    }

    @Test func `alarms that may be late ring together, none of them early or later than they may`() throws {
        try Self.everyOrder { world, timers in
            let rung = Recorder<Duration>()
            var random = world.random()
            for _ in 0..<200 {
                let due = world.uptime + .milliseconds(Int.random(in: 0...5_000, using: &random))
                _ = timers.set(after: due - world.uptime, tolerance: .milliseconds(250)) {
                    #expect(world.uptime >= due)
                    #expect(world.uptime - due <= .milliseconds(250))
                    rung.append(world.uptime)
                }
            }
            try await world.gatewayClock.sleep(for: .seconds(6))
            #expect(rung.elements.count == 200)
            #expect(Set(rung.elements).count <= 21)
        }
    }

    @Test func `an action may set and take back alarms`() throws {
        try Self.everyOrder { world, timers in
            let rung = Recorder<String>()
            let late = timers.set(after: .seconds(20)) { rung.append("late") }
            _ = timers.set(after: .seconds(10)) {
                timers.cancel(late)
                _ = timers.set(after: .zero) { rung.append("at once") }
            }
            try await world.gatewayClock.sleep(for: .minutes(1))
            #expect(rung.elements == ["at once"])
        }
    }
}
