import Concurrency
import MQTT

/// The broker's handling of messages and connections.
extension InMemoryBroker.State {
    func index(of session: Int) -> Int? { sessions.firstIndex { $0.id == session } }

    /// When the next event to a client arrives, if one is in transit, and what wakes the task that delivers it; `nil` if
    /// the client is gone.
    func transit(to id: Int) -> (nextDue: Duration?, pump: Signal)? {
        index(of: id).map { (sessions[$0].nextDue, sessions[$0].pump) }
    }

    /// Stores a message, adds it to the observations, and sends it to every subscriber.
    mutating func receive(
        _ message: OutgoingMessage, from sender: (id: Int, options: InMemoryClientOptions)?, isWill: Bool, now: Duration
    ) {
        var message = message
        if let sender, sender.options.version == .v311 {
            message = OutgoingMessage(
                topic: message.topic, payload: message.payload, qos: message.qos, isRetained: message.isRetained)
        }
        let record = PublishedMessage(
            client: sender?.options.id, message: message, isWill: isWill, uptime: now)
        published.append(record)
        for observation in observations { observation.record(record) }
        let expiry = message.expirySeconds.map { Duration.seconds($0) }
        if message.isRetained {
            retained[message.topic] =
                message.payload.isEmpty
                ? nil : InMemoryBroker.Retained(message: message, expiresAt: expiry.map { now + $0 })
        }
        // By position: beside a copy of the session, each sending would copy everything that it has received so far.
        for position in sessions.indices {
            guard let inbound = sessions[position].inbound(message, from: sender?.id, expiry: expiry) else { continue }
            let id = sessions[position].id
            send(.message(inbound), to: id, now: now)
            if inbound.qos == .atLeastOnce, dice.happens(faults.duplicateDelivery) {
                send(.message(inbound), to: id, now: now)
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
        if publishesWill, let will = session.options.will {
            receive(will, from: (session.id, session.options), isWill: true, now: now)
        }
    }

    /// Removes expired retained messages.
    mutating func forgetExpired(_ now: Duration) {
        retained = retained.filter { entry in entry.value.expiresAt.map { $0 > now } ?? true }
    }
}
