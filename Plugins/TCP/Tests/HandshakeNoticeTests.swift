import GatewayKit
import Listening
import NIOCore
import NIOEmbedded
import NIOSSL
import TestSupport
import Testing

/// What the log has of callers that end the handshake of TLS.
@Suite struct HandshakeNoticeTests {
    @Test func `a caller that ends the handshake is noted, and one that only looks whether the port is open is not`() {
        let log = LogRecorder()
        let handshakes = HandshakeLog(clock: .system, logger: log.logger)
        let looked = NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake]))
        for error in [looked, .uncleanShutdown, .handshakeFailed(.sslError([])), .handshakeFailed(.syscallError)] {
            let channel = EmbeddedChannel(handler: handshakes.handler)
            channel.pipeline.fireErrorCaught(error)
            _ = try? channel.finish()
        }
        #expect(log.entries.map(\.message) == [HandshakeLog.message, HandshakeLog.message])
        #expect(log.entries.map { $0.metadata["count"] } == ["1", "2"])
    }
}
