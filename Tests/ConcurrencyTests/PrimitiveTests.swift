import Concurrency
import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

/// The behaviour of each primitive, over many single-threaded schedules.
@Suite struct PrimitiveTests {
    @Test(arguments: 0..<100) func `a promise lets everybody go on with the first value, or with a cancellation`(
        seed: UInt64
    ) throws {
        try Simulation.run(seed: seed, deadline: .minutes(1)) { environment in
            let promise = Promise<Int>()
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<5 { group.addTask { try? await promise.wait() } }
                group.addTask {
                    promise.fulfil(1)
                    promise.fulfil(2)
                    return 1
                }
                for await value in group { #expect(value == 1) }
            }
            #expect(promise.value == 1)
            let later = try await promise.wait()
            #expect(later == 1)
            let never = Promise<Int>()
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<5 { group.addTask { try? await never.wait() } }
                if seed % 2 == 0 { try? await environment.gatewayClock.sleep(for: .seconds(1)) }
                group.cancelAll()
                for await value in group { #expect(value == nil) }
            }
        }
    }

    @Test(arguments: 0..<50) func `a mutex lets one through at a time, in order, also when work fails`(
        seed: UInt64
    ) throws {
        try Simulation.run(seed: seed, deadline: .minutes(1)) { environment in
            let mutex = AsyncMutex()
            let inside = Counter()
            let clock = environment.gatewayClock
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        try? await mutex.withLock { () async throws in
                            #expect(inside.add(1) == 1)
                            try? await clock.sleep(for: .milliseconds(5))
                            _ = inside.add(-1)
                            if index % 2 == 0 { throw CancellationError() }
                        }
                    }
                }
            }
            #expect(inside.add(0) == 0)
            #expect(environment.uptime == .milliseconds(40))
        }
    }

    @Test func `who does not want to wait is informed that somebody else has the mutex`() async {
        let mutex = AsyncMutex()
        let inner = await mutex.withLock { () async -> Int? in await mutex.withLockIfFree { () async in 1 } }
        #expect(inner == nil)
        let free = await mutex.withLockIfFree { () async in 2 }
        #expect(free == 2)
        // It is free again, also for those who wait.
        #expect(await mutex.withLock { () async in 3 } == 3)
    }

    @Test(arguments: 0..<50) func `a signal is not lost, and several count as one`(seed: UInt64) throws {
        try Simulation.run(seed: seed, deadline: .minutes(1)) { environment in
            let signal = Signal()
            signal.wake()
            signal.wake()
            await signal.wait()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await signal.wait() }
                group.addTask { signal.wake() }
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await signal.wait() }
                group.addTask { try? await environment.gatewayClock.sleep(for: .seconds(1)) }
                await group.next()
                #expect(environment.uptime == .seconds(1))
                group.cancelAll()
            }
        }
    }

    @Test(arguments: 0..<100) func `a busy part answers at its next turn, and one with nothing to do at once`(
        seed: UInt64
    ) throws {
        try Simulation.run(seed: seed, deadline: .seconds(1)) { _ in
            let probe = TurnProbe()
            let answers = Counter()
            await probe.answer()
            probe.begin()
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        await probe.answer()
                        _ = answers.add(1)
                    }
                }
                group.addTask {
                    while answers.add(0) < 3 {
                        await Task.yield()
                        probe.turn()
                    }
                }
            }
            await withTaskGroup { group in
                group.addTask { await probe.answer() }
                group.cancelAll()
            }
            probe.end()
            await probe.answer()
        }
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    func add(_ number: Int) -> Int {
        count.withLock { count in
            count += number
            return count
        }
    }
}
