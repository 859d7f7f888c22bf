import Concurrency
import Synchronization
package import Vitals

/// The newest changes of all devices, for those who follow them: states, and edges of alerts.
///
/// Whoever adds one never waits, and nothing grows: it keeps a number of events, and who is farther behind begins again with all states.
package final class EventHub: Sendable {
    /// How many events are kept: ten seconds of fifty devices that send two values a second, for who comes back after a break.
    package static let kept = 1_024

    /// A change.
    final class Event: Sendable {
        enum Content: Sendable {
            case state(DeviceState)
            case fact(Fact)
        }
        let number: Int64
        let device: DeviceID
        let content: Content
        private let encoded = Mutex<[UInt8]?>(nil)

        init(number: Int64, device: DeviceID, content: Content) {
            self.number = number
            self.device = device
            self.content = content
        }

        /// Its bytes, which are the same for all who get it: the first one makes them.
        func bytes(_ encode: (Event) -> [UInt8]) -> [UInt8] {
            if let bytes = encoded.withLock({ $0 }) { return bytes }
            let bytes = encode(self)
            encoded.withLock { $0 = bytes }
            return bytes
        }
    }

    private struct State {
        /// The newest events; an event's place is its number modulo `kept`.
        var events: [Event] = []
        var newest: Int64 = 0
        /// Fulfilled by the next event, if anybody waits for it.
        var arrival: Promise<Void>?
    }
    private let state = Mutex(State())
    /// What distinguishes the numbers of this run from those of others.
    let run: String

    /// - Parameter start: when the gateway began.
    package init(since start: Timestamp) { run = String(start.milliseconds, radix: 16) }

    /// Adds a changed state.
    package func add(_ device: DeviceID, _ state: DeviceState) { add(device, .state(state)) }

    /// Adds a fact, if it is an edge of an alert.
    package func add(_ fact: Fact) {
        guard case .alert = fact.content else { return }
        add(fact.device, .fact(fact))
    }

    private func add(_ device: DeviceID, _ content: Event.Content) {
        let arrival = state.withLock { state -> Promise<Void>? in
            state.newest += 1
            let event = Event(number: state.newest, device: device, content: content)
            if state.events.count < Self.kept {
                state.events.append(event)
            } else {
                state.events[Int((state.newest - 1) % Int64(Self.kept))] = event
            }
            defer { state.arrival = nil }
            return state.arrival
        }
        arrival?.fulfil(())
    }

    /// The number of the newest event; 0 before the first.
    var newest: Int64 { state.withLock { $0.newest } }

    /// The events behind a number, in their order; `nil` if some of them are gone, or the number was never given.
    func events(after number: Int64) -> [Event]? {
        state.withLock { state in
            let count = state.newest - number
            guard count >= 0, count <= Int64(state.events.count) else { return nil }
            return (0..<count).map { state.events[Int((number + $0) % Int64(Self.kept))] }
        }
    }

    /// Returns when there is an event behind a number, or the task is cancelled.
    func wait(after number: Int64) async {
        let arrival = state.withLock { state -> Promise<Void>? in
            guard state.newest <= number else { return nil }
            let arrival = state.arrival ?? Promise()
            state.arrival = arrival
            return arrival
        }
        _ = try? await arrival?.wait()
    }
}
