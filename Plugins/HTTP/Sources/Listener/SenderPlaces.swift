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
    let gate = ConnectionGate(
        ConnectionShares.Limits(
            strangers: HTTPListener.maximumStrangers, strangersPerAddress: HTTPListener.strangersPerAddress,
            all: HTTPListener.maximumConnections, provenPerAddress: HTTPListener.provenPerAddress),
        maximumRefused: HTTPListener.maximumRefused)
    private let proxies: TrustedProxies
    private let isEncrypted: Bool
    private let log = RefusalLog()
    private let tickets = Mutex<[ObjectIdentifier: ConnectionShares.Ticket]>([:])

    init(behind proxies: TrustedProxies, isEncrypted: Bool) {
        self.proxies = proxies
        self.isEncrypted = isEncrypted
    }

    func connectionOpened() { gate.connectionOpened() }

    func connectionClosed() { gate.connectionClosed() }

    func isAcceptingNewConnections() -> Bool { gate.isAccepting }

    /// Gives a new connection a place until it is closed. Returns what becomes of one that gets none.
    func admit(_ channel: any Channel, _ context: ServiceContext) -> RefusedConnection? {
        let (id, peer) = (ObjectIdentifier(channel), Self.peer(of: channel))
        do throws(ConnectionGate.Refused) {
            // A proxy has connections of many senders, and each of its requests says whose it is.
            let ticket = try gate.admit(channel, of: proxies.contains(peer) ? nil : peer)
            tickets.withLock { $0[id] = ticket }
            channel.closeFuture.whenComplete { [self] _ in tickets.withLock { $0[id] = nil } }
            return nil
        } catch {
            report(error.reason, of: peer, context)
            return RefusedConnection(reply: .crowded(error.reason), isAnswered: !isEncrypted && error.isAnswered)
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
        do throws(ConnectionShares.Refusal) { try gate.shares.name(ticket, address) } catch {
            report(error, of: address, context)
            return .failure(error)
        }
        return .success(address)
    }

    /// Moves a connection from the strangers to those that have had a right token. Returns why it cannot.
    func prove(_ channel: any Channel, of address: String, _ context: ServiceContext) -> ConnectionShares.Refusal? {
        guard let ticket = ticket(of: channel) else { return nil }
        do throws(ConnectionShares.Refusal) { try gate.shares.prove(ticket) } catch {
            report(error, of: address, context)
            return error
        }
        gate.acceptNext()
        return nil
    }

    private func ticket(of channel: any Channel) -> ConnectionShares.Ticket? {
        tickets.withLock { $0[ObjectIdentifier(channel)] }
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
