import GatewayKit
import NIOCore
import TestSupport
import Testing

@testable import TCP

/// Whether a listener that takes no call, and a transport that serves no link any more can be seen.
@Suite(.timeLimit(.minutes(1))) struct ListenerAnswerTests {
    @Test func `neither listener nor transport answers while their thread is blocked`() async throws {
        var reader = ConfigurationReader(ConfigurationValue(.map([])))
        let listener: any PluginService = TCPListener(options: &reader)
        await listener.answer()
        await TCPTransport.answer()
        let loops: any EventLoopGroup = TCPChannel.eventLoops
        let answered = try await countAnswers(to: [{ await listener.answer() }, { await TCPTransport.answer() }]) {
            block in
            loops.next().execute(block)
        }
        #expect(answered.meanwhile == 0)
        #expect(answered.all == 2)
    }
}
