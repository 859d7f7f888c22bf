package import Logging
package import NIOCore
import NIOSSL
package import Vitals

/// Says which senders end the handshake of TLS, so that a phone that does not trust the certificate leaves a trace.
package struct HandshakeLog: Sendable {
    /// What the log says.
    package static let message =
        "A sender ended the TLS handshake: it does not trust the certificate, its address begins with http://, or it has no TLS 1.2."

    private let refusals = RefusalLog()
    private let clock: GatewayClock
    private let logger: Logger

    package init(clock: GatewayClock, logger: Logger) { (self.clock, self.logger) = (clock, logger) }

    /// A handler of one connection, after that of TLS.
    package var handler: HandshakeWatch { HandshakeWatch(self) }

    /// Logs an address: with its first ended handshake, the second, the fourth and so on.
    func note(_ address: String) {
        guard let count = refusals.countRefusal(of: address, at: clock.uptime) else { return }
        logger.notice("\(Self.message)", metadata: ["sender": "\(address)", "count": "\(count)"])
    }
}

/// Notes that the handshake of its connection was ended. It is used on its channel's event loop only.
package final class HandshakeWatch: ChannelInboundHandler, RemovableChannelHandler {
    /// Whatever the others make of the bytes.
    package typealias InboundIn = Any

    private let log: HandshakeLog

    init(_ log: HandshakeLog) { self.log = log }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if Self.isEnded(error) { log.note(context.channel.remoteAddress?.ipAddress ?? "unknown") }
        context.fireErrorCaught(error)
    }

    /// Whether the other end refused the handshake. One that only left may be a program that looks whether the port is open.
    private static func isEnded(_ error: any Error) -> Bool {
        guard case .handshakeFailed(let reason)? = error as? NIOSSLError else { return false }
        guard case .sslError(let stack) = reason else { return true }
        return stack != [.eofDuringHandshake]
    }
}
