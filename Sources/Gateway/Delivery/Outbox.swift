import Engines
import Synchronization
package import Vitals

/// The facts and answers on their way to the broker: the delivery engine, shared between the store, which adds to it, and
/// the publisher, which empties it.
package final class Outbox: Sendable {
    private let machine = Mutex(DeliveryMachine())
    private let wakeup: Wakeup

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    /// Facts are on disk. Called by the store in the order of their numbers.
    package func committed(_ facts: [Fact]) {
        guard !facts.isEmpty else { return }
        machine.withLock { $0.committed(facts) }
        wakeup.wake()
    }

    func committedAnswer() {
        machine.withLock { $0.committedAnswer() }
        wakeup.wake()
    }

    func connect(window: Int) { machine.withLock { $0.connect(window: window) } }
    func disconnect() { machine.withLock { $0.disconnect() } }
    func next() -> DeliveryMachine.Step { machine.withLock { $0.next() } }
    var hasInFlight: Bool { machine.withLock { $0.inFlight > 0 } }
    var hasRoom: Bool { machine.withLock { $0.hasRoom } }
    func paged(_ lane: Lane, _ facts: [Fact]) { machine.withLock { $0.paged(lane, facts) } }
    func paged(_ answers: [(number: Int64, answer: StoredAnswer)]) { machine.withLock { $0.paged(answers) } }
    func pageFailed(_ lane: Lane) { machine.withLock { $0.pageFailed(lane) } }
    func sentState() { machine.withLock { $0.sentState() } }
    func takeWatermarks() -> [(lane: Lane, through: Int64)] { machine.withLock { $0.takeWatermarks() } }
    func watermarkFailed(_ lane: Lane) { machine.withLock { $0.watermarkFailed(lane) } }

    /// The broker has these messages.
    func acknowledged(_ marks: [DeliveryMark]) {
        machine.withLock { machine in
            for mark in marks {
                switch mark {
                case .lane(let lane, let number): machine.acknowledged(lane, number)
                case .state: machine.acknowledgedState()
                }
            }
        }
        wakeup.wake()
    }
}

/// What a message was, packed into the token that the broker gives back with its acknowledgement.
enum DeliveryMark: Sendable, Hashable {
    case lane(Lane, Int64)
    case state

    /// Numbers take 60 bits: a thousand facts a second for thirty million years.
    init(token: Int64) {
        self = Lane(rawValue: Int(token & 0xF)).map { .lane($0, token >> 4) } ?? .state
    }

    /// Whether it must arrive, and so waits for a broker that refuses it.
    var isFact: Bool {
        switch self {
        case .lane(let lane, _): lane != .answer
        case .state: false
        }
    }

    var token: Int64 {
        switch self {
        case .lane(let lane, let number): number << 4 | Int64(lane.rawValue)
        case .state: 0xF
        }
    }
}

extension DeliveryMark: CustomStringConvertible {
    /// What a log says of it.
    var description: String {
        switch self {
        case .lane(.answer, let number): "answer \(number)"
        case .lane(let lane, let number): "fact \(number) (\(lane))"
        case .state: "a state"
        }
    }
}
