import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@Suite struct SimulationTests {
    @Test func `the same seed replays a run, and other seeds give other orders`() throws {
        var orders: Set<String> = []
        for seed in 0..<UInt64(100) {
            let first = Simulation(seed: seed)
            let second = Simulation(seed: seed)
            let order = try first.run(deadline: .hours(1)) { try await party($0) }
            #expect(try second.run(deadline: .hours(1)) { try await party($0) } == order)
            #expect(first.fingerprint == second.fingerprint)
            orders.insert(order)
        }
        #expect(orders.count > 90)
    }

    @Test func `sleeping takes simulated time and no real one`() throws {
        let clock = ContinuousClock()
        let took = try clock.measure {
            let simulation = Simulation(seed: 1)
            try simulation.run(deadline: .days(400)) { environment in
                try await environment.gatewayClock.sleep(for: .days(365))
                #expect(environment.gatewayClock.uptime == .days(365))
                #expect(environment.gatewayClock.now == Simulation.defaultStart + .days(365))
            }
        }
        #expect(took < .seconds(60))
    }

    @Test func `sleepers wake in the order of their deadlines`() throws {
        let woken = try Simulation.run(seed: 3, deadline: .hours(1)) { environment in
            let log = Log()
            try await withThrowingTaskGroup { group in
                var random = environment.random()
                for second in (1...200).shuffled(using: &random) {
                    group.addTask {
                        try await environment.clock.sleep(for: .seconds(second))
                        await log.add("\(second)")
                    }
                }
                try await group.waitForAll()
            }
            return await log.lines
        }
        #expect(woken == (1...200).map { "\($0)" })
    }

    @Test func `a cancelled sleeper wakes at once and throws`() throws {
        try Simulation.run(seed: 4, deadline: .minutes(1)) { environment in
            for _ in 0..<1_000 {
                await withThrowingTaskGroup { group in
                    group.addTask { try await environment.gatewayClock.sleep(for: .days(1)) }
                    group.addTask { try await environment.gatewayClock.sleep(for: .milliseconds(1)) }
                    try? await group.next()
                    group.cancelAll()
                    await #expect(throws: CancellationError.self) { try await group.next() }
                }
            }
            #expect(environment.uptime == .seconds(1))
            #expect(environment.executor.sleeperCount == 0)
        }
    }

    @Test func `sleeping in a task that is cancelled already throws`() throws {
        try Simulation.run(seed: 5, deadline: .minutes(1)) { environment in
            await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask { try await environment.gatewayClock.sleep(for: .seconds(1)) }
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
            #expect(environment.uptime == .zero)
        }
    }

    @Test func `the date jumps and the steady clock does not`() throws {
        try Simulation.run(seed: 6, start: Timestamp(seconds: 1_000), deadline: .hours(2)) { environment in
            environment.jumpDate(by: .hours(1))
            #expect(environment.gatewayClock.now == Timestamp(seconds: 4_600))
            environment.jumpDate(by: .hours(-2))
            #expect(environment.gatewayClock.now == Timestamp(seconds: -2_600))
            #expect(environment.gatewayClock.uptime == .zero)
            try await environment.gatewayClock.sleep(for: .seconds(10))
            #expect(environment.gatewayClock.now == Timestamp(seconds: -2_590))
        }
    }

    @Test func `names the seed of a run in which everybody waits`() throws {
        let error = #expect(throws: SimulationError.self) {
            try Simulation.run(seed: 77, deadline: .hours(1)) { environment in
                try await environment.gatewayClock.sleep(for: .seconds(2))
                for await _ in AsyncStream<Never>.makeStream().stream {}
                // The stream ends because the simulation cancels a stuck body.
                try Task.checkCancellation()
            }
        }
        #expect(error?.code == .deadlock)
        #expect(error?.description.contains("Seed 77, after 2.0 seconds") == true, "\(String(describing: error))")
    }

    @Test func `ends a run that takes too long, and lets it clean up`() throws {
        let simulation = Simulation(seed: 8)
        let isCleanedUp = Mutex(false)
        let error = #expect(throws: SimulationError.self) {
            try simulation.run(deadline: .minutes(5)) { environment in
                do {
                    while true { try await environment.gatewayClock.sleep(for: .seconds(1)) }
                } catch {
                    isCleanedUp.withLock { $0 = true }
                    throw error
                }
            }
        }
        #expect(error?.code == .deadline)
        #expect(error?.uptime == .minutes(5))
        #expect(isCleanedUp.withLock { $0 })
    }

    @Test func `passes on what the body throws`() {
        #expect(throws: DeviceError(.busy, "Not now.")) {
            try Simulation.run(seed: 9, deadline: .seconds(1)) { _ in throw DeviceError(.busy, "Not now.") }
        }
    }

    @Test func `an actor with an executor of its own takes part`() throws {
        let orders = try (0..<UInt64(20)).map { seed in
            try (0..<2).map { _ in
                try Simulation.run(seed: seed, deadline: .hours(1)) { environment in
                    let book = Book(environment)
                    await withTaskGroup { group in
                        for page in 0..<6 { group.addTask { await book.write(page) } }
                    }
                    return await book.pages
                }
            }
        }
        for pair in orders { #expect(pair[0] == pair[1]) }
        #expect(Set(orders.map { $0[0] }).count > 5)
    }

    @Test func `faults come from the seed, whatever the scheduler draws`() {
        let one = Simulation(seed: 10)
        let other = Simulation(seed: 10)
        _ = try? other.run(deadline: .hours(1)) { try await party($0) }
        var first = one.random()
        var second = other.random()
        #expect((0..<5).map { _ in first.next() } == (0..<5).map { _ in second.next() })
        #expect(one.random() != one.random())
    }

    @Test func `a thousand tasks that sleep a hundred times are run in a moment`() throws {
        let count = try Simulation.run(seed: 11, deadline: .days(30)) { environment in
            try await withThrowingTaskGroup { group in
                for _ in 0..<1_000 {
                    group.addTask { for _ in 0..<100 { try await environment.clock.sleep(for: .seconds(60)) } }
                }
                try await group.waitForAll()
            }
            return 1_000
        }
        #expect(count == 1_000)
    }
}

/// Four devices speak at two different times, and one task listens.
private func party(_ environment: Simulation) async throws -> String {
    let (stream, events) = AsyncStream.makeStream(of: String.self)
    let log = Log()
    try await withThrowingTaskGroup { group in
        for device in 0..<4 {
            group.addTask {
                for event in 0..<3 {
                    try await environment.gatewayClock.sleep(for: .seconds(60 * (device % 2 + 1)))
                    events.yield("\(device).\(event)")
                }
            }
        }
        group.addTask { for await event in stream.prefix(12) { await log.add(event) } }
        try await group.waitForAll()
    }
    return await log.lines.joined(separator: " ")
}

private actor Log {
    var lines: [String] = []
    func add(_ line: String) { lines.append(line) }
}

private actor Book {
    private let executor: SeededSerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    var pages: [Int] = []

    init(_ environment: Simulation) { executor = environment.executor.serialExecutor() }

    func write(_ page: Int) async {
        preconditionIsolated()
        pages.append(page)
        await Task.yield()
        preconditionIsolated()
        pages.append(-page)
    }
}
