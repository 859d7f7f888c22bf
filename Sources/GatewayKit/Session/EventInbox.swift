import Synchronization
import Vitals

/// A bounded queue between a driver, which puts events in, and the gateway, which takes all that are waiting at once.
///
/// A driver that waits in `send` does not read from its device: the stream's own flow control does the rest.
public final class EventInbox: Sendable {
    /// Samples and other events that may wait before `send` suspends: about two seconds of a very fast device, and
    /// under a megabyte.
    public static let defaultCapacity = 4_096

    fileprivate struct State {
        var events: [DeviceEvent] = []
        var count = 0
        var end: Result<Void, DeviceError>?
        var receiver: CheckedContinuation<Void, Never>?
        var senders: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let capacity: Int

    /// An empty inbox that lets `capacity` samples and events wait.
    public init(capacity: Int = defaultCapacity) { self.capacity = capacity }

    /// Puts events in, and returns as soon as there is room again for more. After `finish` they are dropped.
    public func send(_ events: [DeviceEvent]) async {
        let isFull = state.withLock { state -> Bool in
            guard state.end == nil else { return false }
            state.events += events
            for event in events { state.count += event.weight }
            state.receiver.take()?.resume()
            return state.count >= capacity
        }
        guard isFull else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if state.count < capacity || state.end != nil || Task.isCancelled {
                        continuation.resume()
                    } else {
                        state.senders.append(continuation)
                    }
                }
            }
        } onCancel: {
            state.withLock { state in state.resumeSenders() }
        }
    }

    /// Says that nothing more will come, because the device is done (`nil`) or because of an error.
    public func finish(_ error: DeviceError? = nil) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = error.map { .failure($0) } ?? .success(())
            state.receiver.take()?.resume()
            state.resumeSenders()
        }
    }

    /// Waits for events and takes all that are there; `nil` at the end. What was put in before the end is returned first.
    public func next() async throws(DeviceError) -> [DeviceEvent]? {
        while true {
            let (events, end) = state.withLock { state -> ([DeviceEvent], Result<Void, DeviceError>?) in
                let events = state.events
                state.events = []
                state.count = 0
                state.resumeSenders()
                return (events, state.end)
            }
            if !events.isEmpty { return events }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { throw DeviceError(.disconnected, "The session was closed.") }
            await waitForEvents()
        }
    }

    private func waitForEvents() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if !state.events.isEmpty || state.end != nil || Task.isCancelled {
                        continuation.resume()
                    } else {
                        state.receiver = continuation
                    }
                }
            }
        } onCancel: {
            state.withLock { state in state.receiver.take()?.resume() }
        }
    }
}

extension EventInbox.State {
    fileprivate mutating func resumeSenders() {
        for sender in senders { sender.resume() }
        senders = []
    }
}

extension DeviceEvent {
    /// How much of an inbox an event takes: as many places as it has samples.
    fileprivate var weight: Int {
        if case .samples(let samples, _) = self { max(1, samples.count) } else { 1 }
    }
}
