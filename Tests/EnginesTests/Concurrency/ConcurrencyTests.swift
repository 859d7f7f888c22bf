import Engines
import GatewayKit
import GatewayTesting
import Synchronization
import Testing
import Vitals

@Suite struct ConcurrencyTests {
    @Test func `of many failures in a row few are told`() {
        var failures = FailureCount()
        let told = (1...3600).filter { _ in failures.addIsTold() }
        #expect(told == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048])
        #expect(failures.count == 3600)
    }

    @Test(arguments: 0..<100) func `a latch lets everybody go on with the first value, or with a cancellation`(
        seed: UInt64
    ) throws {
        try Simulation.run(seed: seed, deadline: .minutes(1)) { world in
            let latch = Latch<Int>()
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<5 { group.addTask { try? await latch.wait() } }
                group.addTask {
                    latch.open(1)
                    latch.open(2)
                    return 1
                }
                for await value in group { #expect(value == 1) }
            }
            #expect(latch.value == 1)
            let later = try await latch.wait()
            #expect(later == 1)
            let never = Latch<Int>()
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<5 { group.addTask { try? await never.wait() } }
                if seed % 2 == 0 { try? await world.gatewayClock.sleep(for: .seconds(1)) }
                group.cancelAll()
                for await value in group { #expect(value == nil) }
            }
        }
    }

    @Test(arguments: 0..<50) func `a gate lets one through at a time, in order, also when work fails`(
        seed: UInt64
    ) throws {
        try Simulation.run(seed: seed, deadline: .minutes(1)) { world in
            let gate = SerialGate()
            let inside = Counter()
            let clock = world.gatewayClock
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        try? await gate.alone { () async throws(DeviceError) in
                            #expect(inside.add(1) == 1)
                            try? await clock.sleep(for: .milliseconds(5))
                            _ = inside.add(-1)
                            if index % 2 == 0 { throw DeviceError(.failure, "no") }
                        }
                    }
                }
            }
            #expect(inside.add(0) == 0)
            #expect(world.uptime == .milliseconds(40))
        }
    }

    @Test(arguments: 0..<50) func `a wake-up is not lost, and several count as one`(seed: UInt64) throws {
        try Simulation.run(seed: seed, deadline: .minutes(1)) { world in
            let wakeup = Wakeup()
            wakeup.wake()
            wakeup.wake()
            await wakeup.wait()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await wakeup.wait() }
                group.addTask { wakeup.wake() }
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await wakeup.wait() }
                group.addTask { try? await world.gatewayClock.sleep(for: .seconds(1)) }
                await group.next()
                #expect(world.uptime == .seconds(1))
                group.cancelAll()
            }
        }
    }

    @Test func `work that takes too long is cancelled and says so`() throws {
        try Simulation.run(seed: 1, deadline: .minutes(1)) { world in
            let clock = world.gatewayClock
            let error = await #expect(throws: DeviceError.self) {
                try await withDeadline(.seconds(5), clock: clock, naming: "a question") {
                    () async throws(DeviceError) in
                    do { try await clock.sleep(for: .hours(1)) } catch { throw DeviceError(.disconnected, "closed") }
                }
            }
            #expect(error?.code == .timeout)
            #expect(error?.message.contains("a question") == true)
            #expect(world.uptime == .seconds(5))
        }
    }

    @Test func `work that is done in time gives its result, or its error`() throws {
        try Simulation.run(seed: 2, deadline: .minutes(1)) { world in
            let clock = world.gatewayClock
            let result = try await withDeadline(.seconds(5), clock: clock, naming: "it") {
                () async throws(DeviceError) in 7
            }
            #expect(result == 7)
            await #expect(throws: DeviceError(.busy, "later")) {
                try await withDeadline(.seconds(5), clock: clock, naming: "it") { () async throws(DeviceError) in
                    throw DeviceError(.busy, "later")
                }
            }
            #expect(world.uptime == .zero)
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
