import Concurrency
import Synchronization

/// The values that a device sent and the driver has not taken: what a transport keeps for `GATTLink.nextValue`.
///
/// A transport adds values from any thread, and never waits. The radio has no flow control for notifications, so a queue that is full
/// ends the link: a value that is dropped silently would be missing without a trace.
public final class GATTValueQueue: Sendable {
    /// The most values that may wait, at most 2 MiB: an hour of a strap that sends once a second, or all records of a meter.
    public static let capacity = 4_096

    private struct State {
        var values: [GATTValue] = []
        /// How many of them were taken.
        var taken = 0
        var end: Result<Void, LinkError>?

        /// The oldest value that waits. Values that were taken leave the memory in large pieces.
        mutating func dequeue() -> GATTValue? {
            guard taken < values.count else { return nil }
            defer {
                taken += 1
                if taken == values.count || taken >= 512 {
                    values.removeFirst(taken)
                    taken = 0
                }
            }
            return values[taken]
        }
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    private let capacity: Int

    /// An empty queue with room for `capacity` values.
    public init(capacity: Int = GATTValueQueue.capacity) { self.capacity = capacity }

    /// Adds a value. Returns `false` if the queue has ended, or ends because it is full: the transport should then disconnect.
    @discardableResult
    public func add(_ value: GATTValue) -> Bool {
        let isAdded = state.withLock { state in
            guard state.end == nil else { return false }
            guard state.values.count - state.taken < capacity else {
                state.end = .failure(
                    LinkError(.broken, "More than \(capacity) values of the device waited to be read."))
                return false
            }
            state.values.append(value)
            return true
        }
        arrival.wake()
        return isAdded
    }

    /// Ends the queue after the values that wait: normally (`nil`), or with an error. Only the first end counts.
    public func finish(_ error: LinkError? = nil) {
        state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
        }
        arrival.wake()
    }

    /// Waits for the next value; `nil` at the end.
    /// - Throws: the error of `finish`; `cancelled` if the task is cancelled while nothing waits.
    public func next() async throws(LinkError) -> GATTValue? {
        while true {
            let (value, end) = state.withLock { state in (state.dequeue(), state.end) }
            if let value { return value }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { throw LinkError(.cancelled, "The gateway no longer waits for the device.") }
            await arrival.wait()
        }
    }
}
