import Concurrency
import MQTT
import Messages

/// The broker's handling of messages and connections.
extension InMemoryBroker.State {
    func index(of session: Int) -> Int? { sessions.firstIndex { $0.id == session } }

    func session(_ id: Int) -> InMemorySession? { sessions.first { $0.id == id } }

    /// Stores a message, adds it to the observations, and sends it to every subscriber.
    mutating func take(_ message: OutgoingMessage, from sender: InMemorySession?, isWill: Bool, now: Duration) {
        var message = message
        if let sender, sender.options.version == .v311 {
            message = OutgoingMessage(
                topic: message.topic, payload: message.payload, qos: message.qos, isRetained: message.isRetained)
        }
        let record = PublishedMessage(
            client: sender?.options.id, message: message, isWill: isWill, uptime: now)
        published.append(record)
        for observation in observations { observation.record(record) }
        let life = message.expirySeconds.map { Duration.seconds($0) }
        if message.isRetained {
            retained[message.topic] =
                message.payload.isEmpty
                ? nil : InMemoryBroker.Retained(message: message, expiresAt: life.map { now + $0 })
        }
        for session in sessions {
            let wanted = session.subscriptions.filter { subscription in
                TopicFilter(subscription.filter).matches(message.topic)
                    && !(subscription.isWithoutOwn && session.options.version == .v5 && session.id == sender?.id)
            }
            // One copy at the highest quality of service, however many subscriptions overlap (section 3.3.4).
            guard let best = wanted.max(by: { $0.qos.rawValue < $1.qos.rawValue }) else { continue }
            let inbound = session.inbound(message, through: best, isFromStore: false, expiry: life)
            send(.message(inbound), to: session.id, now: now)
            if inbound.qos == .atLeastOnce, dice.happens(faults.duplicateDelivery) {
                send(.message(inbound), to: session.id, now: now)
            }
        }
    }

    /// Sends an event to a client.
    mutating func send(_ event: InMemorySession.Event, to id: Int, now: Duration) {
        let delay = dice.duration(faults.delay)
        guard let index = index(of: id) else { return }
        sessions[index].send(event, due: now + delay, now: now)
    }

    /// Ends a connection; events still in transit to the client are lost.
    mutating func end(_ id: Int, _ error: BrokerError, now: Duration, publishesWill: Bool = true) {
        guard let index = index(of: id) else { return }
        let session = sessions.remove(at: index)
        received[session.options.id, default: []] += session.received
        session.pump.wake()
        session.inbox.end(error)
        if publishesWill, let will = session.options.will { take(will, from: session, isWill: true, now: now) }
    }

    /// Removes expired retained messages.
    mutating func forgetExpired(_ now: Duration) {
        retained = retained.filter { entry in entry.value.expiresAt.map { $0 > now } ?? true }
    }
}
