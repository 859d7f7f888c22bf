import Synchronization

/// What one device of the feeder has done, as the benchmark asks for it.
final class DeviceTally: Sendable {
    struct Counts: Sendable {
        var isConnected = false
        /// Whether nothing waits to be written.
        var isQuiet = true
        /// The plan's generation that the device has seen.
        var generation = 0
        /// Samples that were handed to the socket, in flood mode the keys from 0.
        var flooded = 0
        /// Keys of samples that were sent at a pace.
        var paced: [UInt32] = []
        /// Keys that the gateway has answered: it said that they are durable.
        var acknowledged: [UInt32] = []
        /// Requests that were answered with an error.
        var refused = 0
        /// On the steady clock, when history was asked for first, and when the gateway last said what is durable.
        var firstRead: Int64 = 0
        var lastAcknowledge: Int64 = 0
    }
    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }
    func update(_ body: (inout sending Counts) -> Void) { state.withLock { body(&$0) } }
}
