package import Concurrency
import Synchronization
package import Vitals

/// The entries on their way to the broker: the delivery engine, shared between the store, which adds to it, and
/// the publisher, which empties it.
package final class Outbox: Sendable {
    private let machine = Mutex(DeliveryMachine())
    /// Signals that there may be something to send.
    let wakeup: Signal

    package init(wakeup: Signal = Signal()) { self.wakeup = wakeup }

    /// Adds entries that are on disk. The store calls this in the order of their numbers.
    package func committed(_ entries: [OutboxEntry]) {
        guard !entries.isEmpty else { return }
        let hasRoom = machine.withLock { machine in
            machine.committed(entries)
            return machine.hasRoom
        }
        // Where the window is full, the acknowledgement that makes room wakes the publisher.
        if hasRoom { wakeup.wake() }
    }

    func connect(window: Int) { machine.withLock { $0.connect(window: window) } }
    /// Lets this many messages be in flight from now on.
    func setWindow(_ window: Int) {
        machine.withLock { $0.setWindow(window) }
        wakeup.wake()
    }
    func disconnect() { machine.withLock { $0.disconnect() } }
    func next() -> DeliveryMachine.Step { machine.withLock { $0.next() } }
    /// The messages that are sent and not acknowledged yet.
    package var inFlight: Int { machine.withLock { $0.inFlight } }
    /// Whether sent messages are still unacknowledged.
    package var hasInFlight: Bool { inFlight > 0 }
    /// The messages that have passed each stage since the start, by lane.
    package var counts: [Lane: LaneCounts] {
        machine.withLock { machine in
            Dictionary(Lane.allCases.map { ($0, machine.counts(of: $0)) }) { first, _ in first }
        }
    }
    /// Whether an entry could be sent now.
    package var hasWork: Bool { machine.withLock { $0.hasWork } }
    /// Whether the window has room for a message.
    package var hasRoom: Bool { machine.withLock { $0.hasRoom } }
    func paged(_ lane: Lane, _ entries: [OutboxEntry]) { machine.withLock { $0.paged(lane, entries) } }
    func pageFailed(_ lane: Lane) { machine.withLock { $0.pageFailed(lane) } }
    func sentState() { machine.withLock { $0.sentState() } }
    func takeWatermarks(of lanes: [Lane]) -> [(lane: Lane, through: Int64)] {
        machine.withLock { $0.takeWatermarks(of: lanes) }
    }
    func watermarks(of lanes: [Lane]) -> [(lane: Lane, through: Int64)] {
        machine.withLock { $0.watermarks(of: lanes) }
    }
    func watermarkFailed(_ lane: Lane) { machine.withLock { $0.watermarkFailed(lane) } }

    /// Notes that the broker has these messages. Wakes the publisher only if the window was full: otherwise it rests since there is
    /// nothing to send.
    func acknowledged(_ marks: [DeliveryMark]) {
        let wasFull = machine.withLock { machine in
            let wasFull = !machine.hasRoom
            for mark in marks {
                switch mark {
                case .entry(let lane, let number): machine.acknowledged(lane, number)
                case .part, .replay, .state: machine.acknowledgedState()
                }
            }
            return wasFull
        }
        if wasFull { wakeup.wake() }
    }
}
