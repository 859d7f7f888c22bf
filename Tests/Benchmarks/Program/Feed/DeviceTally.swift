import Synchronization

/// The counts of one device of the feeder, for queries by the benchmark.
final class DeviceTally: Sendable {
    struct Counts: Sendable {
        var isConnected = false
        /// Whether nothing waits to be written.
        var isQuiet = true
        /// The generation of the plan that the device has seen.
        var generation = 0
        /// Samples handed to the socket in flood mode, with keys from 0.
        var flooded = 0
        /// Keys of samples sent at a pace.
        var paced: [UInt32] = []
        /// Keys whose samples the gateway has confirmed as durable.
        var acknowledged: [UInt32] = []
        /// Requests answered with an error.
        var refused = 0
        /// When history was first requested, and when the gateway last confirmed durability, on the steady clock.
        var firstRead: Int64 = 0
        var lastAcknowledge: Int64 = 0
    }
    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }
    func update(_ body: (inout sending Counts) -> Void) { state.withLock { body(&$0) } }
}
