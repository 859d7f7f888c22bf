import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import Vitals

/// The connections of a listener, which are closed at its end.
final class OpenConnections: Sendable {
    /// How often the end looks whether all are closed.
    private static let step: Duration = .milliseconds(20)

    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// The number of open connections.
    var count: Int { channels.withLock { $0.count } }

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { [self] _ in channels.withLock { $0[id] = nil } }
    }

    /// Closes all of them, after the last answers had a moment.
    func end(clock: GatewayClock) async {
        let deadline = clock.uptime + HTTPListener.farewell
        while count > 0, clock.uptime < deadline, (try? await clock.sleep(for: Self.step)) != nil {}
        for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
    }
}

/// A connection that is known to `OpenConnections`.
struct CountedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let connections: OpenConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        connections.add(channel)
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
