import Concurrency
import GatewayTesting
import Synchronization
import TestSupport
import Testing

/// Every primitive under all simultaneous events, on real threads. A round with a task that is never woken, or with
/// deadlocked threads, does not end; the storm then ends the process and names the round.
@Suite(.serialized) struct StormTests {
    @Test func `a promise that is kept, waited for and given up at once lets everybody go`() async {
        let kept = Tally()
        await Storm.run("A promise") { number in
            let promise = Promise<Int>()
            let impatient = Task { try? await promise.wait() }
            let patient = Task { await promise.waitUncancelled() }
            return [
                { impatient.cancel() }, { patient.cancel() },
                { promise.fulfil(number) }, { promise.fulfil(-1) },
                {
                    let value = await patient.value
                    let other = await impatient.value ?? value
                    if value == other, value == promise.value { kept.add(1) }
                },
            ]
        }
        #expect(kept.value == Storm.rounds)
    }

    @Test func `a signal that is given while its waiters are cancelled wakes the ones that are left`() async {
        await Storm.run("A signal") { _ in
            let signal = Signal()
            let isDone = Tally()
            let cancelled = Task { await signal.wait() }
            let patient = Task { while isDone.value == 0 { await signal.wait() } }
            return [
                { cancelled.cancel() },
                {
                    isDone.add(1)
                    signal.wake()
                },
                {
                    await cancelled.value
                    // Covers the case that the cancelled task was woken instead of the other.
                    signal.wake()
                    await patient.value
                },
            ]
        }
    }

    @Test func `a probe of steps that is asked while its part takes them lets everybody go`() async {
        await Storm.run("A probe of steps") { _ in
            let probe = StepProbe()
            probe.step(nextBy: .seconds(1))
            let impatient = Task { await probe.answer(at: .seconds(2)) }
            let patient = Task { await probe.answer(at: .seconds(2)) }
            return [
                { impatient.cancel() }, { probe.step(nextBy: .seconds(1)) }, { await probe.answer(at: .zero) },
                {
                    // A task that asks after the last step must be answered, too.
                    probe.step(nextBy: nil)
                    await patient.value
                    await impatient.value
                },
            ]
        }
    }

    @Test func `a probe of turns that is asked while its part takes turns and ends lets everybody go`() async {
        await Storm.run("A probe of turns") { _ in
            let probe = TurnProbe()
            probe.begin()
            let impatient = Task { await probe.answer() }
            let patient = Task { await probe.answer() }
            return [
                { impatient.cancel() }, { probe.turn() }, { probe.end() }, { await probe.answer() },
                {
                    await patient.value
                    await impatient.value
                },
            ]
        }
    }

    @Test func `a mutex whose waiters give up goes on to the ones that are left`() async {
        let room = Room()
        await Storm.run("A mutex with impatient tasks") { _ in
            let mutex = AsyncMutex()
            let tasks = (0..<6).map { number in
                Task {
                    func stay() async {
                        room.enter()
                        await Task.yield()
                        room.leave()
                    }
                    if number.isMultiple(of: 2) {
                        try? await mutex.withCancellableLock { await stay() }
                    } else {
                        await mutex.withLock { await stay() }
                    }
                }
            }
            return [
                { tasks[0].cancel() }, { tasks[2].cancel() }, { tasks[3].cancel() },
                {
                    for task in tasks { await task.value }
                    // No task has kept it.
                    await mutex.withLock {}
                },
            ]
        }
        #expect(!room.wasShared)
    }

    @Test func `a mutex lets one task in at a time, also where tasks are cancelled`() async {
        let room = Room()
        await Storm.run("A mutex") { _ in
            let mutex = AsyncMutex()
            let tasks = (0..<4).map { _ in
                Task {
                    await mutex.withLock {
                        room.enter()
                        await Task.yield()
                        room.leave()
                    }
                }
            }
            return [{ tasks[0].cancel() }, { tasks[2].cancel() }, { for task in tasks { await task.value } }]
        }
        #expect(!room.wasShared)
    }

    @Test func `a runner of requests that ends, and calls that are cancelled at once, let everybody go`() async {
        let room = Room()
        await Storm.run("A runner") { _ in
            let runner = SerialRunner()
            let running = Task { await runner.run() }
            let calls = (0..<3).map { _ in
                Task {
                    _ = await runner.perform {
                        room.enter()
                        await Task.yield()
                        room.leave()
                    }
                }
            }
            return [
                { calls[0].cancel() }, { running.cancel() },
                {
                    for call in calls { await call.value }
                    await running.value
                    // No operation begins any more.
                    #expect(await runner.perform { 1 } == nil)
                },
            ]
        }
        #expect(!room.wasShared)
    }

    @Test func `a mailbox that is filled, emptied, finished and cancelled at once lets everybody go`() async {
        await Storm.run("A mailbox") { _ in
            let mailbox = Mailbox<Int, CancellationError>(capacity: 1)
            let reader = Task {
                while true { guard case .elements = try? await mailbox.next() else { return } }
            }
            let sender = Task { await mailbox.send([1, 2]) }
            let other = Task { await mailbox.send([3]) }
            return [
                { reader.cancel() }, { sender.cancel() }, { mailbox.finish() },
                {
                    await reader.value
                    await sender.value
                    await other.value
                },
            ]
        }
    }

    @Test func `a mailbox gives each element once, however many send`() async {
        let mailbox = Mailbox<Int, CancellationError>(capacity: 16)
        let count = 20_000
        let watch = StallWatch("A mailbox with four senders", limit: .seconds(120))
        defer { watch.end() }
        let sum = await withTaskGroup(of: Int.self) { group in
            for sender in 0..<4 {
                group.addTask {
                    for number in 0..<count { await mailbox.send([sender * count + number]) }
                    return 0
                }
            }
            group.addTask {
                var sum = 0
                var left = 4 * count
                while left > 0, case .elements(let elements) = try? await mailbox.next() {
                    sum += elements.reduce(0, +)
                    left -= elements.count
                }
                return sum
            }
            return await group.reduce(0, +)
        }
        #expect(sum == (0..<4 * count).reduce(0, +))
    }

    @Test func `a race whose limit, work and task end at once has one winner`() async {
        await Storm.run("A race") { _ in
            let (limit, work) = (Promise<Void>(), Promise<Int>())
            let racer = Task {
                await race(against: { try await limit.wait() }) { (try? await work.wait()) ?? 0 }
            }
            return [
                { limit.fulfil(()) }, { work.fulfil(1) }, { racer.cancel() }, { _ = await racer.value },
            ]
        }
    }
}

/// A number that many tasks change. It is atomic, which the thread sanitizer understands.
final class Tally: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .acquiring) }

    @discardableResult
    func add(_ number: Int) -> Int { count.add(number, ordering: .acquiringAndReleasing).newValue }
}

/// Counts the tasks inside.
private final class Room: Sendable {
    private let inside = Tally()
    private let encounters = Tally()

    /// Whether two tasks were inside at once.
    var wasShared: Bool { encounters.value > 0 }
    func enter() { if inside.add(1) > 1 { encounters.add(1) } }
    func leave() { inside.add(-1) }
}
