import Concurrency
import Dispatch
import GatewayKit
import NIOCore
import TestSupport
import Testing

@testable import HTTP

/// Whether a listener that takes no document any more can be seen.
@Suite(.timeLimit(.minutes(1))) struct ListenerAnswerTests {
    @Test func `neither listener nor transport answers while their thread is blocked`() async throws {
        var reader = ConfigurationReader(ConfigurationValue(.map([])))
        let listener: any PluginService = HTTPListener(options: &reader)
        await listener.answer()
        await HTTPTransport.answer()
        let (isBlocked, gate) = (Promise<Void>(), DispatchSemaphore(value: 0))
        let loops: any EventLoopGroup = DocumentServer.eventLoops
        loops.next().execute {
            isBlocked.fulfil(())
            gate.wait()
        }
        // The thread serves other tests, too: it continues also when this one fails.
        defer { gate.signal() }
        try await isBlocked.wait()
        let answers = Recorder<Void>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await listener.answer()
                answers.append(())
            }
            group.addTask {
                await HTTPTransport.answer()
                answers.append(())
            }
            for _ in 0..<20 { await Task.yield() }
            #expect(answers.elements.isEmpty)
            gate.signal()
            try await group.waitForAll()
        }
        #expect(answers.elements.count == 2)
    }
}
