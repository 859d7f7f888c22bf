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
        let loops: any EventLoopGroup = DocumentServer.eventLoops
        let answered = try await countAnswers(to: [{ await listener.answer() }, { await HTTPTransport.answer() }]) {
            block in
            loops.next().execute(block)
        }
        #expect(answered.meanwhile == 0)
        #expect(answered.all == 2)
    }
}
