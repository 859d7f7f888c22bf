package import NIOCore
import Synchronization

/// Accepts the connections of a listener, one at a time, and the next one only while there is a place for it.
///
/// SwiftNIO asks for the next connection before the one that it accepted is set up. So a connection without a place yet keeps the
/// gate shut, or one more would be accepted than there are places.
package final class ConnectionGate: Sendable {
    /// A connection for which there is no place.
    package struct Refused: Error {
        package let reason: ConnectionShares.Refusal
        /// Whether its sender gets an answer, or only the end: half of the refused ones do.
        package let isAnswered: Bool
    }

    private struct State {
        /// The open connections that were accepted.
        var accepted = 0
        /// Those of them that got a place or were refused.
        var settled = 0
        /// Those of them that were refused.
        var refused = 0
        /// What accepts the next connection each time it is read.
        var server: (any Channel)?
    }
    package let shares: ConnectionShares
    private let maximumRefused: Int
    private let state = Mutex(State())

    /// - Parameter maximumRefused: the most refused connections that are open at a time.
    package init(_ limits: ConnectionShares.Limits, maximumRefused: Int) {
        shares = ConnectionShares(limits)
        self.maximumRefused = maximumRefused
    }

    /// Begins with a listening channel.
    package func open(_ server: any Channel) async {
        state.withLock { $0.server = server }
        try? await server.setOption(.maxMessagesPerRead, value: 1).get()
    }

    /// Counts a connection that was accepted.
    package func connectionOpened() { state.withLock { $0.accepted += 1 } }

    /// Counts one that was accepted and is closed.
    package func connectionClosed() { state.withLock { $0.accepted -= 1 } }

    /// Whether the next connection is accepted now.
    package var isAccepting: Bool {
        shares.hasRoom && state.withLock { $0.accepted <= $0.settled && $0.refused < maximumRefused }
    }

    /// Accepts the next connection, if there is a place. It may be called too often.
    package func acceptNext() { state.withLock { $0.server }?.read() }

    /// Gives a new connection a place until it is closed.
    /// - Parameter address: whose it is; `nil` for a trusted proxy.
    package func admit(_ channel: any Channel, of address: String?) throws(Refused) -> ConnectionShares.Ticket {
        defer { acceptNext() }
        do throws(ConnectionShares.Refusal) {
            let ticket = try shares.admit(address)
            settle(channel, isRefused: false) { [shares] in shares.release(ticket) }
            return ticket
        } catch {
            let count = settle(channel, isRefused: true) {}
            throw Refused(reason: error, isAnswered: count <= maximumRefused / 2)
        }
    }

    /// Returns the number of refused connections.
    @discardableResult
    private func settle(
        _ channel: any Channel, isRefused: Bool, whenClosed release: @escaping @Sendable () -> Void
    ) -> Int {
        let step = isRefused ? 1 : 0
        channel.closeFuture.whenComplete { [self] _ in
            release()
            state.withLock { state in
                state.settled -= 1
                state.refused -= step
            }
            acceptNext()
        }
        return state.withLock { state in
            state.settled += 1
            state.refused += step
            return state.refused
        }
    }
}
