import GatewayKit
import HTTPTypes
import HummingbirdCore
import Listening
import Logging
import NIOCore
import NIOHTTPTypes
import Synchronization
import Vitals

/// Who has the connections of a listener: each gets a place or is refused, and the next one is accepted while there is a place.
final class SenderPlaces: Sendable, AvailableConnectionsDelegate {
    private struct State {
        var tickets: [ObjectIdentifier: ConnectionShares.Ticket] = [:]
        /// The number of open connections that were refused.
        var refused = 0
        /// What accepts the next connection each time it is read.
        var server: (any Channel)?
    }
    let shares = ConnectionShares(
        ConnectionShares.Limits(
            strangers: HTTPListener.maximumStrangers, strangersPerAddress: HTTPListener.strangersPerAddress,
            all: HTTPListener.maximumConnections, provenPerAddress: HTTPListener.provenPerAddress))
    private let proxies: TrustedProxies
    private let isEncrypted: Bool
    private let log = RefusalLog()
    private let state = Mutex(State())

    init(behind proxies: TrustedProxies, isEncrypted: Bool) {
        self.proxies = proxies
        self.isEncrypted = isEncrypted
    }

    // MARK: - Accepting

    /// Begins with a listening channel.
    func open(_ server: any Channel) async {
        state.withLock { $0.server = server }
        // One at a time, or it would accept more than there are places for.
        try? await server.setOption(.maxMessagesPerRead, value: 1).get()
    }

    func connectionOpened() {}

    func connectionClosed() {}

    func isAcceptingNewConnections() -> Bool {
        shares.hasRoom && state.withLock { $0.refused } < HTTPListener.maximumRefused
    }

    /// Accepts the next connection, if there is a place. It may be called too often.
    private func acceptNext() { state.withLock { $0.server }?.read() }

    // MARK: - Places

    /// Gives a new connection a place until it is closed. Returns what becomes of one that gets none.
    func admit(_ channel: any Channel, _ context: ServiceContext) -> RefusedConnection? {
        let (id, peer) = (ObjectIdentifier(channel), Self.peer(of: channel))
        do throws(ConnectionShares.Refusal) {
            // A proxy has connections of many senders, and each of its requests says whose it is.
            let ticket = try shares.admit(proxies.contains(peer) ? nil : peer)
            state.withLock { $0.tickets[id] = ticket }
            channel.closeFuture.whenComplete { [self] _ in
                state.withLock { $0.tickets[id] = nil }
                shares.release(ticket)
                acceptNext()
            }
            return nil
        } catch {
            report(error, of: peer, context)
            let count = state.withLock { state in
                state.refused += 1
                return state.refused
            }
            channel.closeFuture.whenComplete { [self] _ in
                state.withLock { $0.refused -= 1 }
                acceptNext()
            }
            return RefusedConnection(
                reply: .crowded(error), isAnswered: !isEncrypted && count <= HTTPListener.maximumRefused / 2)
        }
    }

    /// The address that counts for a request. A trusted proxy names it, and the request gets a place among those of this address.
    func sender(
        of headers: HTTPFields, _ channel: any Channel, _ context: ServiceContext
    ) -> Result<String, ConnectionShares.Refusal> {
        let peer = Self.peer(of: channel)
        guard proxies.contains(peer), let ticket = ticket(of: channel) else { return .success(peer) }
        func lines(_ name: String) -> [String] {
            headers.compactMap { $0.name.canonicalName == name ? $0.value : nil }
        }
        let address = proxies.sender(
            behind: peer, forwardedFor: lines("x-forwarded-for"), forwarded: lines("forwarded"))
        do throws(ConnectionShares.Refusal) { try shares.name(ticket, address) } catch {
            report(error, of: address, context)
            return .failure(error)
        }
        return .success(address)
    }

    /// Moves a connection from the strangers to those that have had a right token. Returns why it cannot.
    func prove(_ channel: any Channel, of address: String, _ context: ServiceContext) -> ConnectionShares.Refusal? {
        guard let ticket = ticket(of: channel) else { return nil }
        do throws(ConnectionShares.Refusal) { try shares.prove(ticket) } catch {
            report(error, of: address, context)
            return error
        }
        acceptNext()
        return nil
    }

    private func ticket(of channel: any Channel) -> ConnectionShares.Ticket? {
        state.withLock { $0.tickets[ObjectIdentifier(channel)] }
    }

    private static func peer(of channel: any Channel) -> String { channel.remoteAddress?.ipAddress ?? "unknown" }

    private func report(_ refusal: ConnectionShares.Refusal, of address: String, _ context: ServiceContext) {
        guard let count = log.countRefusal(of: address, at: context.clock.uptime) else { return }
        context.logger.notice(
            "Connections were refused.",
            metadata: ["sender": "\(address)", "count": "\(count)", "reason": "\(refusal)"])
    }
}

/// A connection for which there is no place.
struct RefusedConnection: Sendable {
    let reply: Reply
    /// Whether its sender gets the answer, or only the end.
    let isAnswered: Bool

    /// Answers at once, without a request, and closes it.
    func end(_ connection: HTTP1Channel.Value, clock: GatewayClock) async {
        try? await connection.executeThenClose { inbound, outbound in
            guard isAnswered else { return }
            try await outbound.write(
                contentsOf: [
                    .head(reply.head), .body(ByteBuffer(bytes: reply.body)), .end(nil),
                ] as [HTTPResponsePart])
            outbound.finish()
            // What was sent meanwhile is read, or the system would throw the answer away with it.
            await clock.withTimeout(HTTPListener.drainTime) {
                do { for try await _ in inbound {} } catch {}
            }
        }
    }
}
