import Concurrency
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Timers and launched work on real threads, with all events at once.
@Suite(.serialized) struct TimerStormTests {
    /// Timers on the machine's clock.
    private static func timers() -> Timers {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        return Timers(uptime: { start.duration(to: clock.now) }, sleep: { try await clock.sleep(for: $0) })
    }

    @Test func `timers that are set, taken back and due at once fire once or never`() async {
        let timers = Self.timers()
        let running = Task { await timers.run() }
        let fired = Tally()
        await Storm.run("Timers") { _ in
            let (kept, doubtful) = (Promise<Void>(), Tally())
            let timer = timers.set(after: .microseconds(20)) { doubtful.add(1) }
            return [
                { _ = timers.set(after: .zero) { kept.fulfil(()) } },
                { timers.cancel(timer) },
                { timers.cancel(timers.set(after: .hours(1)) {}) },
                {
                    try? await kept.wait()
                    timers.cancel(timer)
                    #expect(doubtful.value <= 1)
                    fired.add(1)
                },
            ]
        }
        #expect(fired.value == Storm.rounds)
        #expect(timers.count == 0)
        running.cancel()
        await running.value
    }

    @Test func `timers whose task is cancelled while they are set and taken back let everybody go`() async {
        await Storm.run("Ending timers") { _ in
            let timers = Self.timers()
            let running = Task { await timers.run() }
            let timer = timers.set(after: .microseconds(10)) { _ = timers.set(after: .zero) {} }
            return [
                { running.cancel() }, { timers.cancel(timer) }, { _ = timers.set(after: .microseconds(5)) {} },
                { await running.value },
            ]
        }
    }

    @Test func `a launcher that ends while work is begun loses none of it`() async {
        let (begun, done) = (Tally(), Tally())
        await Storm.run("A launcher") { _ in
            let launcher = TaskLauncher()
            let queue = WorkQueue<Int>(launcher: launcher)
            let running = Task { await launcher.run() }
            let add: @Sendable () async -> Void = {
                if await queue.add(1, { _ in done.add(1) }) == .taken { begun.add(1) }
            }
            return [
                add, add,
                { launcher.launch { await add() } },
                { queue.close() },
                { launcher.finish() },
                { await running.value },
            ]
        }
        #expect(begun.value == done.value)
        #expect(begun.value > 0)
    }

    @Test func `a launcher that is cancelled while work is begun handles all of it, or who brings it does`() async {
        let (begun, done) = (Tally(), Tally())
        await Storm.run("A cancelled launcher") { _ in
            let launcher = TaskLauncher()
            let queue = WorkQueue<Int>(launcher: launcher)
            let running = Task { await launcher.run() }
            let add: @Sendable () async -> Void = {
                if await queue.add(1, { _ in done.add(1) }) == .taken { begun.add(1) }
            }
            return [add, add, { running.cancel() }, { launcher.finish() }, { await running.value }]
        }
        #expect(begun.value == done.value)
    }
}
