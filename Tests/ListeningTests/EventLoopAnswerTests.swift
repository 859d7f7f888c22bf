import Concurrency
import Dispatch
import Listening
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct EventLoopAnswerTests {
    @Test func `a group answers only when each of its threads has taken a turn`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        await group.answer()
        let (isBlocked, gate) = (Promise<Void>(), DispatchSemaphore(value: 0))
        group.next().execute {
            isBlocked.fulfil(())
            gate.wait()
        }
        // The thread serves other tests, too: it continues also when this one fails.
        defer { gate.signal() }
        try await isBlocked.wait()
        let answers = Recorder<Void>()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                await group.answer()
                answers.append(())
            }
            for _ in 0..<20 { await Task.yield() }
            #expect(answers.elements.isEmpty)
            gate.signal()
            try await tasks.waitForAll()
        }
        #expect(answers.elements.count == 1)
        try await group.shutdownGracefully()
    }

    @Test func `whoever asks a blocked group can be cancelled`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let gate = DispatchSemaphore(value: 0)
        group.next().execute { gate.wait() }
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await group.answer() }
            tasks.cancelAll()
        }
        gate.signal()
        try await group.shutdownGracefully()
    }
}
