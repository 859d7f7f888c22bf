import Synchronization

/// The current task of all devices of the feeder. The keys of samples are their order; `start` is `base + key * step`.
final class FeedPlan: Sendable {
    enum Mode: Sendable, Hashable {
        case idle
        /// As fast as the gateway reads, limited by the stream's own flow control.
        case flood
        /// An even number per second by each device; the key is the sending time.
        case pace(perDevice: Double, asRequests: Bool)
    }

    /// Milliseconds since 1970 of key 0.
    let base: Int64
    /// Milliseconds between the keys of the history.
    let step: Int64
    /// Records of history in each device; 0 for none.
    let historyCount: Int
    let deviceCount: Int
    private let state: Mutex<(mode: Mode, generation: Int, began: Int64)>

    init(base: Int64, step: Int64, historyCount: Int, deviceCount: Int) {
        self.base = base
        self.step = step
        self.historyCount = historyCount
        self.deviceCount = deviceCount
        state = Mutex((.idle, 0, Instant.steady))
    }

    /// The mode, a number that changes with it, and when the mode began on the steady clock.
    var current: (mode: Mode, generation: Int, began: Int64) { state.withLock { $0 } }

    func change(to mode: Mode) {
        state.withLock { $0 = (mode, $0.generation + 1, Instant.steady) }
    }
}
