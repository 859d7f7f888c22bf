import GatewayKit
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import Vitals

/// The connections of a listener, which are closed at its end.
///
/// SwiftNIO ends the process if a connection that was set up is released before a task has served it. The server releases those
/// that come while it ends. So each is kept here until it is served, and those that are left are served after the server.
final class OpenConnections: Sendable {
    /// How often the end checks whether all are closed.
    private static let step: Duration = .milliseconds(20)

    /// Serves a connection until it is closed.
    typealias Service = @Sendable () async -> Void

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Connections that were set up, and that no task serves yet.
        var unserved: [ObjectIdentifier: Service] = [:]
        var isEnding = false
    }
    private let state = Mutex(State())

    /// The number of open connections.
    var count: Int { state.withLock { $0.channels.count } }

    /// Adds a connection. Returns whether it may be set up: not while the listener ends.
    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let isOpen = state.withLock { state in
            if !state.isEnding { state.channels[id] = channel }
            return !state.isEnding
        }
        guard isOpen else { return false }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.channels[id] = nil } }
        return true
    }

    /// Keeps a connection that was set up, until `take` or the end.
    func add(_ channel: any Channel, _ serve: @escaping Service) {
        state.withLock { $0.unserved[ObjectIdentifier(channel)] = serve }
    }

    /// Takes a connection to serve it; `nil` if the end has taken it.
    func remove(_ channel: any Channel) -> Service? {
        state.withLock { $0.unserved.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Sets up no further connection.
    func refuse() { state.withLock { $0.isEnding = true } }

    /// Closes all of them, after the last answers had a moment.
    func end(clock: GatewayClock) async {
        refuse()
        let deadline = clock.uptime + HTTPListener.farewell
        while count > 0, clock.uptime < deadline, (try? await clock.sleep(for: Self.step)) != nil {}
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }

    /// Serves those that the server has forgotten. They are closed, so this ends soon.
    func serveForgotten() async {
        while let serve = state.withLock({ state in state.unserved.popFirst()?.value }) { await serve() }
    }
}

/// A connection that is known to `OpenConnections`, and served if there is a place for it.
struct CountedChannel<Base: ServerChildChannel>: ServerChildChannel where Base.Value == HTTP1Channel.Value {
    let base: Base
    /// The same without TLS, for what is refused: it gets no time for a handshake.
    let plain: HTTP1Channel
    let connections: OpenConnections
    let places: SenderPlaces
    let context: ServiceContext

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard connections.add(channel) else {
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        guard let refused = places.admit(channel, context) else {
            return base.setup(channel: channel, logger: logger).map { [base, connections] value in
                connections.add(channel) { await base.handle(value: value, logger: logger) }
                return value
            }
        }
        return plain.setup(channel: channel, logger: logger).map { [connections, context] value in
            connections.add(channel) { await refused.end(value, clock: context.clock) }
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await connections.remove(value.channel)?() }
}
