import Concurrency
import Logging
import MQTT
import Synchronization
import Vitals

/// The messages on their way to the broker, shared between the task that sends them and the one that receives their acknowledgements.
final class InFlightPublishes: Sendable {
    private let machine = Mutex(PublishMachine())

    func forget(_ lane: Lane, _ number: Int64) { machine.withLock { $0.forget(lane, number) } }

    /// Runs `body` with the machine.
    func with<Value: Sendable>(_ body: (inout PublishMachine) -> Value) -> Value { machine.withLock { body(&$0) } }
}

/// Carries out what the machine decides about messages that the broker has answered.
struct PublishOutcomes: Sendable {
    let inFlight: InFlightPublishes
    let outbox: Outbox
    let watermarks: Watermarks
    let quarantine: QuarantineWriter
    let status: BrokerStatus
    let settings: DeliverySettings

    /// The broker took these messages.
    /// - Throws: `BrokerError` if the connection must end.
    func taken(_ marks: [DeliveryMark], window: Int) throws(BrokerError) {
        let uptime = settings.clock.uptime
        let (outcomes, isCalm) = inFlight.with { machine in
            machine.noticingCalm { machine in marks.map { machine.settled($0, refusal: nil, at: uptime) } }
        }
        var done: [DeliveryMark] = []
        done.reserveCapacity(outcomes.count)
        for outcome in outcomes {
            switch outcome {
            case .delivered(let lane, let number): done.append(.entry(lane, number))
            case .room: done.append(.state(0))
            case .replayed(let number):
                done.append(.state(0))
                quarantine.taken(number)
            case .quarantine(let fact):
                // The last of its messages arrived, but others were refused.
                quarantine.add(fact)
            case .givenUp, .reconnect: break
            }
        }
        watermarks.acknowledged(done)
        if isCalm { outbox.setWindow(window) }
    }

    /// The broker refused a message, or it cannot be sent.
    /// - Throws: `BrokerError` if the connection must end.
    func refused(_ mark: DeliveryMark, _ refusal: BrokerRefusal, window: Int) throws(BrokerError) {
        let uptime = settings.clock.uptime
        let (outcome, isCalm) = inFlight.with { machine in
            machine.noticingCalm { $0.settled(mark, refusal: refusal, at: uptime) }
        }
        if isCalm { outbox.setWindow(window) }
        switch outcome {
        case .quarantine(let fact): quarantine.add(fact)
        case .givenUp(let mark): giveUp(mark, "\(refusal)")
        case .room: watermarks.acknowledged([.state(0)])
        case .delivered(let lane, let number): watermarks.acknowledged([.entry(lane, number)])
        case .replayed: break
        case .reconnect: throw BrokerError(.notAuthorized, "The broker refused a message: \(refusal).")
        }
    }

    /// Gives up an answer or a state: the next connection, or the next change, sends a state again.
    func giveUp(_ mark: DeliveryMark, _ reason: String) {
        settings.logger.error(
            "The broker does not take a message; it is given up.",
            metadata: ["message": "\(mark)", "reason": "\(reason)"])
        status.dropped()
        if case .entry(let lane, let number) = mark { inFlight.forget(lane, number) }
        watermarks.acknowledged([mark])
    }
}
