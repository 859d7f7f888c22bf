import Concurrency
import Contract
import Logging
import MQTT
import Synchronization
import Vitals

/// The messages on their way to the broker, shared between the task that sends them and the one that receives their acknowledgements.
final class InFlightPublishes: Sendable {
    private let machine = Mutex(PublishMachine())
    /// What the log says of messages that are given up or put aside, and when the last one was.
    private let notices = Mutex<(notice: RepeatedNotice, last: Duration)>((RepeatedNotice(), .zero))
    /// The time without such a message after which the next one is news: the states of a fault that lasts come sooner.
    static let calm: Duration = .seconds(60 * 60)

    /// Notes a message that is given up or put aside. Returns how many there were, and whether that is to be said.
    func givesUp(_ reason: String, at uptime: Duration) -> (count: Int, isDue: Bool) {
        notices.withLock { notices in
            if uptime - notices.last > Self.calm { notices.notice = RepeatedNotice() }
            notices.last = uptime
            let isDue = notices.notice.isDue(reason, at: uptime)
            return (count: notices.notice.count, isDue: isDue)
        }
    }

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
            case .givenUp, .held, .reconnect: break
            }
        }
        watermarks.acknowledged(done)
        if isCalm { outbox.setWindow(window) }
    }

    /// The broker refused a message, or it cannot be sent.
    /// - Parameter topic: its topic; `nil` for one that is in flight.
    /// - Throws: `BrokerError` if the connection must end.
    func refused(
        _ mark: DeliveryMark, _ refusal: BrokerRefusal, on topic: String? = nil, window: Int
    ) throws(BrokerError) {
        let uptime = settings.clock.uptime
        let sent = topic ?? inFlight.with { $0.poison.topic(of: mark.token) }
        let (outcome, isCalm) = inFlight.with { machine in
            machine.noticingCalm { $0.settled(mark, refusal: refusal, at: uptime) }
        }
        if isCalm { outbox.setWindow(window) }
        switch outcome {
        case .quarantine(let fact): quarantine.add(fact)
        case .givenUp(let mark):
            // Only the status that begins a connection is sent without a place in flight.
            let topic = sent ?? settings.topics.topic(.gatewayStatus)
            giveUp(mark, on: topic, "\(refusal)", remedy: refusal == .notAuthorized ? BrokerRefusal.accessRemedy : nil)
        case .room: watermarks.acknowledged([.state(0)])
        case .delivered(let lane, let number): watermarks.acknowledged([.entry(lane, number)])
        case .replayed, .held: break
        case .reconnect: throw BrokerError(.notAuthorized, "The broker refused a message: \(refusal).")
        }
    }

    /// Gives up an answer or a state: the next connection, or the next change, sends a state again.
    func giveUp(_ mark: DeliveryMark, on topic: String, _ reason: String, remedy: String? = nil) {
        let (count, isDue) = inFlight.givesUp("\(topic) \(reason)", at: settings.clock.uptime)
        var metadata: Logger.Metadata = [
            "topic": "\(topic)", "message": "\(mark)", "reason": "\(reason)", "times": "\(count)",
        ]
        if let remedy { metadata["remedy"] = "\(remedy)" }
        settings.logger.log(
            level: isDue ? .error : .debug, "The broker does not take a message; it is given up.", metadata: metadata)
        status.dropped()
        if case .entry(let lane, let number) = mark { inFlight.forget(lane, number) }
        watermarks.acknowledged([mark])
    }
}

extension BrokerRefusal {
    /// What to do where the user may not publish.
    static let accessRemedy = "Let the gateway's user write this topic, in the broker's access list."
}
