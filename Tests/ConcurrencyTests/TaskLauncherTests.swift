import Concurrency
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct TaskLauncherTests {
    @Test func `runs work side by side, and ends when all of it has ended, also what that began`() throws {
        for seed in 0..<20 {
            try Simulation.run(seed: UInt64(seed), deadline: .hours(1)) { environment in
                let launcher = TaskLauncher()
                let done = Recorder<String>()
                for name in ["a", "b", "c"] {
                    launcher.launch {
                        try? await environment.gatewayClock.sleep(for: .seconds(1))
                        launcher.launch {
                            try? await environment.gatewayClock.sleep(for: .seconds(1))
                            done.append(name)
                        }
                    }
                }
                launcher.finish()
                await launcher.run()
                #expect(done.elements.sorted() == ["a", "b", "c"])
                #expect(environment.uptime == .seconds(2))
                #expect(!launcher.launch { done.append("late") })
                await launcher.perform { done.append("here") }
                #expect(done.elements.last == "here")
                #expect(done.elements.count == 4)
            }
        }
    }

    @Test func `elements are handled in order, one at a time, and none is left`() throws {
        for seed in 0..<20 {
            try Simulation.run(seed: UInt64(seed), deadline: .hours(1)) { environment in
                let launcher = TaskLauncher()
                let queue = WorkQueue<Int>(capacity: 3, launcher: launcher)
                let handled = Recorder<Int>()
                let handle: @Sendable (Int) async -> Void = { number in
                    try? await environment.gatewayClock.sleep(for: .seconds(1))
                    handled.append(number)
                }
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await launcher.run() }
                    for number in 0..<3 { #expect(await queue.add(number, handle) == .taken) }
                    try? await environment.gatewayClock.sleep(for: .milliseconds(500))
                    // One is being handled, so three may wait.
                    #expect(await queue.add(3, handle) == .taken)
                    #expect(await queue.add(4, handle) == .full)
                    queue.close()
                    #expect(await queue.add(5, handle) == .closed)
                    launcher.finish()
                }
                #expect(handled.elements == [0, 1, 2, 3])
                #expect(environment.uptime == .seconds(4))
            }
        }
    }

    @Test func `what comes after the end of the launcher is handled by who brings it`() async {
        let launcher = TaskLauncher()
        let queue = WorkQueue<Int>(launcher: launcher)
        let handled = Recorder<Int>()
        launcher.finish()
        await launcher.run()
        for number in 0..<3 { #expect(await queue.add(number) { handled.append($0) } == .taken) }
        #expect(handled.elements == [0, 1, 2])
    }
}
