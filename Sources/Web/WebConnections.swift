import GatewayKit
import HTTPTypes
import HummingbirdCore
import Listening
import Logging
import NIOCore
import NIOHTTPTypes
import Vitals

/// The connections of one opening of the listener: each gets a place or is refused, and the next one is accepted while there is a place.
final class WebConnections: Sendable, AvailableConnectionsDelegate {
    /// The most connections at a time. Further ones wait in the system until one of these ends.
    static let maximum = 16
    /// The most of them of one address, or the 64 bits of IPv6 that one host has: it keeps out nobody else.
    static let perAddress = 8
    /// The most refused connections that are open at a time. Half of them get an answer, and the others only their end.
    static let maximumRefused = 4
    /// The most bytes of the head of a request.
    static let maximumHead = 16 << 10
    /// The most headers of a request.
    static let maximumHeaders = 100
    /// How long a client may take for the head of a request, with the handshake of TLS, and how long a connection stays open for
    /// the next one.
    static let headTime: Duration = .seconds(10)
    /// How long a client may take to read an answer.
    static let answerTime: Duration = .seconds(10)
    /// How long the last answers may take at the end: a client of this machine reads at once.
    static let farewell: Duration = .milliseconds(100)
    /// How long a refused client may take to read the refusal.
    static let drainTime: Duration = .milliseconds(500)
    /// How often the end checks whether all are closed.
    private static let step: Duration = .milliseconds(10)

    let channels = OpenConnections()
    let gate = ConnectionGate(
        ConnectionShares.Limits(strangers: WebConnections.maximum, strangersPerAddress: WebConnections.perAddress),
        maximumRefused: WebConnections.maximumRefused)
    private let log = RefusalLog()
    private let clock: GatewayClock
    private let logger: Logger

    init(clock: GatewayClock, logger: Logger) {
        self.clock = clock
        self.logger = logger
    }

    func connectionOpened() { gate.connectionOpened() }

    func connectionClosed() { gate.connectionClosed() }

    func isAcceptingNewConnections() -> Bool { gate.isAccepting }

    /// Gives a new connection a place until it is closed. Returns what serves one that gets none.
    func admit(_ channel: any Channel) -> RefusedClient? {
        let peer = Self.peer(of: channel)
        do throws(ConnectionGate.Refused) {
            _ = try gate.admit(channel, of: peer)
            return nil
        } catch {
            if let count = log.countRefusal(of: peer, at: clock.uptime) {
                logger.notice(
                    "Connections were refused.",
                    metadata: ["sender": "\(peer)", "count": "\(count)", "reason": "\(error.reason)"])
            }
            return RefusedClient(reason: error.reason, isAnswered: error.isAnswered, clock: clock)
        }
    }

    /// The address of a connection's other end.
    static func peer(of channel: any Channel) -> String { channel.remoteAddress?.ipAddress ?? "unknown" }

    // MARK: - The end

    /// Closes all of them, after the last answers had a moment.
    func end() async {
        channels.refuse()
        let deadline = clock.uptime + Self.farewell
        while !channels.isEmpty, clock.uptime < deadline, (try? await clock.sleep(for: Self.step)) != nil {}
        channels.close()
    }
}

/// A connection that is known to `WebConnections`, and served if there is a place for it.
struct CountedChannel<Base: ServerChildChannel>: ServerChildChannel where Base.Value == HTTP1Channel.Value {
    let base: Base
    /// The same without TLS, for what is refused: it gets no time for a handshake.
    let plain: HTTP1Channel
    let isEncrypted: Bool
    let connections: WebConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard connections.channels.add(channel) else {
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        guard let refused = connections.admit(channel) else {
            return base.setup(channel: channel, logger: logger).map { [base, channels = connections.channels] value in
                channels.add(channel) { await base.handle(value: value, logger: logger) }
                return value
            }
        }
        return plain.setup(channel: channel, logger: logger).map {
            [channels = connections.channels, isEncrypted] value in
            channels.add(channel) { await refused.end(value, isEncrypted: isEncrypted) }
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await connections.channels.remove(value.channel)?() }
}

/// A connection for which there is no place.
struct RefusedClient: Sendable {
    let reason: ConnectionShares.Refusal
    /// Whether it gets an answer, or only the end.
    let isAnswered: Bool
    let clock: GatewayClock

    /// Answers at once, without a request, and closes it.
    func end(_ connection: HTTP1Channel.Value, isEncrypted: Bool) async {
        try? await connection.executeThenClose { inbound, outbound in
            guard isAnswered, !isEncrypted else { return }
            let answer = WebAnswer.busy(reason.description)
            try await outbound.write(
                contentsOf: [
                    .head(answer.head(endsConnection: true)), .body(ByteBuffer(bytes: answer.body)), .end(nil),
                ] as [HTTPResponsePart])
            outbound.finish()
            // What was sent meanwhile is read, or the system would throw the answer away with it.
            await clock.withTimeout(WebConnections.drainTime) {
                do { for try await _ in inbound {} } catch {}
            }
        }
    }
}
