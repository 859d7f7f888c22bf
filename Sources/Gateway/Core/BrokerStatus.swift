import Synchronization

/// How the connection with the broker stands, for `gateway/state`.
final class BrokerStatus: Sendable {
    struct Snapshot: Sendable, Hashable {
        var isConnected = false
        var lastError: String?
        /// Messages that the broker will never take, and commands that came faster than they could be taken.
        var dropped = 0
    }
    private let state = Mutex(Snapshot())

    var snapshot: Snapshot { state.withLock { $0 } }

    func connected() { state.withLock { $0.isConnected = true } }
    func failed(_ error: String) {
        state.withLock { state in
            state.isConnected = false
            state.lastError = error
        }
    }
    func dropped(_ count: Int = 1) { state.withLock { $0.dropped += count } }
}
