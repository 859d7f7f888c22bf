package import NIOCore
import Synchronization

/// The connections of a listener, which closes them at its end.
///
/// SwiftNIO ends the process if a connection that was set up is released before a task has served it. The server releases those
/// that come while it ends. So each is kept here until it is served, and those that are left are served after the server.
package final class OpenConnections: Sendable {
    /// Serves a connection until it is closed.
    package typealias Service = @Sendable () async -> Void

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Connections that were set up, and that no task serves yet.
        var unserved: [ObjectIdentifier: Service] = [:]
        var isEnding = false
    }
    private let state = Mutex(State())

    package init() {}

    /// Whether none is open.
    package var isEmpty: Bool { state.withLock { $0.channels.isEmpty } }

    /// Adds a connection. Returns whether it may be set up: not while the listener ends.
    package func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let isOpen = state.withLock { state in
            if !state.isEnding { state.channels[id] = channel }
            return !state.isEnding
        }
        guard isOpen else { return false }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.channels[id] = nil } }
        return true
    }

    /// Keeps a connection that was set up, until `remove` or the end.
    package func add(_ channel: any Channel, _ serve: @escaping Service) {
        state.withLock { $0.unserved[ObjectIdentifier(channel)] = serve }
    }

    /// Removes a connection to serve it; `nil` if the end has it.
    package func remove(_ channel: any Channel) -> Service? {
        state.withLock { $0.unserved.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Sets up no further connection.
    package func refuse() { state.withLock { $0.isEnding = true } }

    /// Closes all of them.
    package func close() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }

    /// Serves those that the server has forgotten. They are closed, so this ends soon.
    package func serveForgotten() async {
        while let serve = state.withLock({ state in state.unserved.popFirst()?.value }) { await serve() }
    }
}
