import Concurrency
import GatewayKit
import HTTPTypes
import HummingbirdCore
import Listening
import Logging
import NIOCore
import NIOHTTPTypes
import Synchronization
import Vitals

/// The connections of one opening of the listener: each gets a place or is refused, and the next one is accepted while there is a place.
final class WebConnections: Sendable, AvailableConnectionsDelegate {
    /// The most connections at a time, without event streams. Further ones wait in the system until one of these ends.
    static let maximum = 64
    /// The most of them that have had no right token: the others are for devices.
    static let maximumStrangers = maximum * 3 / 4
    /// The most of these of one address, or the 64 bits of IPv6 that one host has: it keeps out nobody else. Two browsers have six each.
    static let strangersPerAddress = maximum / 4
    /// The most connections of one address that have had a right token: with its strangers it leaves some to others.
    static let provenPerAddress = maximum / 2
    /// The most event streams at a time. A page opens one only for whom it lets in, so an address may have them all: behind a proxy that
    /// names nobody everyone has the same.
    static let maximumStreams = 200
    /// The most refused connections that are open at a time. Half of them get an answer, and the others only their end.
    static let maximumRefused = 16
    /// The most bytes of the head of a request.
    static let maximumHead = 16 << 10
    /// The most headers of a request.
    static let maximumHeaders = 100
    /// How long a client may take for the head of a request, with the handshake of TLS, and how long a connection stays open for
    /// the next one.
    static let headTime: Duration = .seconds(10)
    /// How long what is sent to a page may take to arrive: a form has some kilobytes.
    static let bodyTime: Duration = .seconds(10)
    /// How long a client may take to read an answer, or a part of a stream.
    static let answerTime: Duration = .seconds(10)
    /// How long the rest of a refused request is read, so that its sender reads the refusal.
    static let drainTime: Duration = .seconds(2)
    /// How long the last answers may take at the end.
    static let farewell: Duration = .milliseconds(500)
    /// How often the end checks whether all are closed.
    private static let step: Duration = .milliseconds(10)

    /// Whose a request is, and how it came.
    struct Sender: Sendable {
        var address: String
        var isEncrypted: Bool
        /// Whether it may have a secret that others on the way could send again.
        var mayHaveSecret: Bool
        var base = "/"
    }

    let channels = OpenConnections()
    /// Fulfilled when the listener ends.
    let ending = Promise<Void>()
    let gate = ConnectionGate(
        ConnectionShares.Limits(
            strangers: WebConnections.maximumStrangers, strangersPerAddress: WebConnections.strangersPerAddress,
            all: WebConnections.maximum, provenPerAddress: WebConnections.provenPerAddress),
        maximumRefused: WebConnections.maximumRefused)

    private struct State {
        var tickets: [ObjectIdentifier: ConnectionShares.Ticket] = [:]
        var streams = 0
        /// Requests that get their answer.
        var answering = 0
    }
    private let state = Mutex(State())
    private let proxies: TrustedProxies
    private let isEncrypted: Bool
    private let allowsPlainSecret: Bool
    private let log = RefusalLog()
    private let clock: GatewayClock
    private let logger: Logger

    /// - Parameters:
    ///   - isEncrypted: whether the listener has TLS.
    ///   - allowsPlainSecret: whether apps of Nightscout may do without it.
    init(
        behind proxies: TrustedProxies, isEncrypted: Bool, allowsPlainSecret: Bool = false, clock: GatewayClock,
        logger: Logger
    ) {
        self.proxies = proxies
        self.allowsPlainSecret = allowsPlainSecret
        self.isEncrypted = isEncrypted
        self.clock = clock
        self.logger = logger
    }

    func connectionOpened() { gate.connectionOpened() }

    func connectionClosed() { gate.connectionClosed() }

    func isAcceptingNewConnections() -> Bool { gate.isAccepting }

    /// The event streams that are open.
    var streams: Int { state.withLock { $0.streams } }

    /// Gives a new connection a place until it is closed. Returns what serves one that gets none.
    func admit(_ channel: any Channel) -> RefusedConnection? {
        let (id, peer) = (ObjectIdentifier(channel), Self.peer(of: channel))
        do throws(ConnectionGate.Refused) {
            // A proxy has connections of many senders, and each of its requests says whose it is.
            let ticket = try gate.admit(channel, of: proxies.contains(peer) ? nil : peer)
            state.withLock { $0.tickets[id] = ticket }
            channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.tickets[id] = nil } }
            return nil
        } catch {
            report(error.reason, of: peer)
            return RefusedConnection(
                reply: .crowded(error.reason), isAnswered: !isEncrypted && error.isAnswered, clock: clock)
        }
    }

    /// Whose a request is. A trusted proxy names the address, and the request gets a place among those of this address.
    func sender(of headers: HTTPFields, _ channel: any Channel) -> Result<Sender, ConnectionShares.Refusal> {
        let peer = Self.peer(of: channel)
        guard proxies.contains(peer) else {
            let mayHaveSecret = isEncrypted || allowsPlainSecret || WebResponder.ownAddresses?.contains(peer) == true
            return .success(Sender(address: peer, isEncrypted: isEncrypted, mayHaveSecret: mayHaveSecret))
        }
        func lines(_ name: String) -> [String] {
            headers.compactMap { $0.name.canonicalName == name ? $0.value : nil }
        }
        let address = proxies.sender(
            behind: peer, forwardedFor: lines("x-forwarded-for"), forwarded: lines("forwarded"))
        if let ticket = ticket(of: channel) {
            do throws(ConnectionShares.Refusal) { try gate.shares.name(ticket, address) } catch {
                report(error, of: address)
                return .failure(error)
            }
        }
        // On its way to the proxy it may have been plain also where the proxy is on this machine.
        let isEncrypted = isEncrypted || TrustedProxies.isEncrypted(forwardedProto: lines("x-forwarded-proto"))
        return .success(
            Sender(
                address: address, isEncrypted: isEncrypted, mayHaveSecret: isEncrypted || allowsPlainSecret,
                base: TrustedProxies.base(ingressPath: lines("x-ingress-path"))))
    }

    /// Moves a connection from the strangers to those that have had a right token. Returns why it cannot.
    func prove(_ channel: any Channel, of address: String) -> ConnectionShares.Refusal? {
        guard let ticket = ticket(of: channel) else { return nil }
        do throws(ConnectionShares.Refusal) { try gate.shares.prove(ticket) } catch {
            report(error, of: address)
            return error
        }
        gate.acceptNext()
        return nil
    }

    /// Gives a connection a place among the event streams until it is closed, and its place to the next one. Returns whether there was one.
    func beginStream(_ channel: any Channel) -> Bool {
        let hasRoom = state.withLock { state in
            guard state.streams < Self.maximumStreams else { return false }
            state.streams += 1
            return true
        }
        guard hasRoom else { return false }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.streams -= 1 } }
        if let ticket = ticket(of: channel) { gate.shares.release(ticket) }
        gate.acceptNext()
        return true
    }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    /// Counts a request that gets its answer.
    @inline(never)
    func beginAnswer() { state.withLock { $0.answering += 1 } }

    /// Counts it no longer.
    @inline(never)
    func endAnswer() { state.withLock { $0.answering -= 1 } }

    private func ticket(of channel: any Channel) -> ConnectionShares.Ticket? {
        state.withLock { $0.tickets[ObjectIdentifier(channel)] }
    }

    /// The address of a connection's other end.
    /// Whether the connection is of Home Assistant's Supervisor, and it is trusted.
    func isIngress(_ channel: any Channel) -> Bool {
        let peer = Self.peer(of: channel)
        return peer == AccessRule.supervisor && proxies.contains(peer)
    }

    private static func peer(of channel: any Channel) -> String { channel.remoteAddress?.ipAddress ?? "unknown" }

    private func report(_ refusal: ConnectionShares.Refusal, of address: String) {
        guard let count = log.countRefusal(of: address, at: clock.uptime) else { return }
        logger.notice(
            "Connections were refused.",
            metadata: ["sender": "\(address)", "count": "\(count)", "reason": "\(refusal)"])
    }

    // MARK: - The end

    /// Sets up no further connection, and lets those with a request have their answer.
    func refuse() async {
        channels.refuse()
        ending.fulfil(())
        await wait { state.withLock { $0.answering == 0 } }
    }

    /// Closes all of them, after they had a moment.
    func end() async {
        await wait { channels.isEmpty }
        channels.close()
    }

    /// Waits until `isDone`, up to `farewell`.
    private func wait(_ isDone: () -> Bool) async {
        let deadline = clock.uptime + Self.farewell
        while !isDone(), clock.uptime < deadline, (try? await clock.sleep(for: Self.step)) != nil {}
    }
}

/// A connection that is known to `WebConnections`, and served if there is a place for it.
struct CountedChannel<Base: ServerChildChannel>: ServerChildChannel where Base.Value == HTTP1Channel.Value {
    let base: Base
    /// The same without TLS, for what is refused: it gets no time for a handshake.
    let plain: HTTP1Channel
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
        return plain.setup(channel: channel, logger: logger).map { [channels = connections.channels] value in
            channels.add(channel) { await refused.end(value) }
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await connections.channels.remove(value.channel)?() }
}

/// A connection for which there is no place.
struct RefusedConnection: Sendable {
    let reply: Reply
    /// Whether its sender gets the answer, or only the end.
    let isAnswered: Bool
    let clock: GatewayClock

    /// Answers at once, without a request, and closes it.
    func end(_ connection: HTTP1Channel.Value) async {
        try? await connection.executeThenClose { inbound, outbound in
            guard isAnswered else { return }
            let answer = reply.answer
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
