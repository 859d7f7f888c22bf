import Concurrency
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@Suite struct SerialRunnerTests {
    /// What runs now, and what has run.
    private final class Log: Sendable {
        private let state = Mutex((running: 0, most: 0, done: 0, order: [Int]()))
        var most: Int { state.withLock { $0.most } }
        var done: Int { state.withLock { $0.done } }
        var order: [Int] { state.withLock { $0.order } }

        func enter() {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
            }
        }

        func note(_ number: Int) { state.withLock { $0.order.append(number) } }

        func leave() { state.withLock { ($0.running, $0.done) = ($0.running - 1, $0.done + 1) } }
    }

    @Test func `runs operations one after the other, in the order of the calls`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let (runner, log) = (SerialRunner(), Log())
            await withTaskGroup { group in
                group.addTask { await runner.run() }
                await withTaskGroup { calls in
                    for number in 0..<5 {
                        calls.addTask {
                            try? await simulation.clock.sleep(for: .milliseconds(number))
                            let value = await runner.perform {
                                try? await simulation.clock.sleep(for: .seconds(1))
                                log.note(number)
                                return number
                            }
                            #expect(value == number)
                        }
                    }
                }
                group.cancelAll()
            }
            #expect(log.order == [0, 1, 2, 3, 4])
            #expect(simulation.uptime == .seconds(5))
        }
    }

    @Test func `a cancelled call ends at once, and an operation that has begun goes on`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let (runner, log) = (SerialRunner(), Log())
            await withTaskGroup { group in
                group.addTask { await runner.run() }
                await withTaskGroup { calls in
                    for _ in 0..<2 {
                        calls.addTask {
                            let value: Int? = await runner.perform {
                                log.enter()
                                try? await simulation.clock.sleep(for: .seconds(10))
                                log.leave()
                                return 1
                            }
                            #expect(value == nil)
                            #expect(simulation.uptime == .seconds(1))
                        }
                    }
                    try? await simulation.clock.sleep(for: .seconds(1))
                    calls.cancelAll()
                }
                // The second one had not begun, and never does.
                #expect(await runner.perform { 3 } == 3)
                #expect(simulation.uptime == .seconds(10))
                group.cancelAll()
            }
            #expect(log.done == 1)
            #expect(await runner.perform { 4 } == nil)
        }
    }

    /// On real threads: calls that are cancelled at any moment, and a runner that ends.
    @Test(arguments: 1...20) func `no call hangs and no two operations overlap, whatever is cancelled`(round: Int) async
    {
        let (runner, log) = (SerialRunner(), Log())
        await withTaskGroup { group in
            group.addTask { await runner.run() }
            await withTaskGroup { calls in
                for number in 0..<200 {
                    calls.addTask {
                        await withTaskGroup { call in
                            call.addTask {
                                _ = await runner.perform {
                                    log.enter()
                                    await Task.yield()
                                    log.leave()
                                }
                            }
                            if number % 3 == 0 { call.cancelAll() }
                        }
                    }
                    if number == 100 + round { group.cancelAll() }
                }
            }
        }
        #expect(log.most <= 1)
    }
}
