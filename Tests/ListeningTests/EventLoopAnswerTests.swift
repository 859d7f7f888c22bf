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
        let answered = try await countAnswers(to: [{ await group.answer() }]) { block in group.next().execute(block) }
        #expect(answered.meanwhile == 0)
        #expect(answered.all == 1)
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
