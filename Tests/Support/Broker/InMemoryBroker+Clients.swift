import Concurrency
import GatewayKit
import MQTT
import Synchronization
import Vitals

/// The clients' operations.
extension InMemoryBroker {
    /// Waits for the round trip of a packet.
    func travel() async throws(BrokerError) {
        let delay = state.withLock { state in
            let range = state.faults.delay
            return state.dice.duration(range)
        }
        guard delay > .zero else { return }
        do { try await clock.sleep(for: delay) } catch { throw .cancelled }
    }

    /// Opens a connection.
    func open(_ options: InMemoryClientOptions) throws(BrokerError) -> (session: Int, inbox: BrokerEventQueue) {
        let now = clock.uptime
        let result: Result<(Int, BrokerEventQueue), BrokerError> = state.withLock { state in
            state.attempts += 1
            if let refusal = state.refusal { return .failure(refusal) }
            if state.dice.happens(state.faults.refuseConnection) {
                return .failure(BrokerError(.unreachable, "The broker cannot be reached."))
            }
            for session in state.sessions where session.options.id == options.id {
                let error = BrokerError(.broken, "Another client named \(options.id) connected to the broker.")
                state.end(session.id, error, now: now)
            }
            state.nextSession += 1
            var session = InMemorySession(id: state.nextSession, options: options)
            session.isHeld = state.isHolding
            state.sessions.append(session)
            return .success((session.id, session.inbox))
        }
        return try result.get()
    }

    /// Closes a connection from the client's side.
    func close(_ id: Int, isDisconnect: Bool) {
        let now = clock.uptime
        state.withLock { state in
            let error = BrokerError(.broken, "The connection was closed by this client.")
            state.end(id, error, now: now, publishesWill: !isDisconnect)
        }
    }

    /// Delivers pending events to a client, until the task is cancelled.
    func move(_ id: Int) async {
        while !Task.isCancelled, let transit = state.withLock({ $0.transit(to: id) }) {
            guard let due = transit.nextDue else {
                await transit.pump.wait()
                continue
            }
            let now = clock.uptime
            if due > now { try? await clock.sleep(for: due - now) }
            let later = clock.uptime
            state.withLock { state in
                guard let index = state.index(of: id) else { return }
                state.sessions[index].arrive(later)
            }
        }
    }

    /// The most slashes in a topic, as in libmosquitto.
    private static let maximumDepth = 200

    /// Whether a client may publish on a topic.
    private static func isTopic(_ topic: String) -> Bool {
        var depth = 0
        for byte in topic.utf8 {
            switch byte {
            case UInt8(ascii: "/"): depth += 1
            case UInt8(ascii: "+"), UInt8(ascii: "#"), 0: return false
            default: break
            }
        }
        return !topic.isEmpty && depth <= maximumDepth
    }

    /// Takes a message from a client.
    func publish(_ message: OutgoingMessage, as token: MessageToken, from id: Int) throws(BrokerError) {
        let now = clock.uptime
        let error: BrokerError? = state.withLock { state in
            guard let index = state.index(of: id) else { return .cut }
            let options = state.sessions[index].options
            if !Self.isTopic(message.topic) {
                return BrokerError(.invalidMessage, "\"\(message.topic)\" is not a topic to publish on.")
            }
            if message.qos == .atLeastOnce {
                guard state.sessions[index].inFlight < options.window else { return .windowFull(options.window) }
                state.sessions[index].inFlight += 1
            }
            let isTooLong =
                state.maximumPacketSize.map { message.packetSize(options.version) > $0 } ?? false
            if isTooLong || state.poison?(message) == true || state.dice.happens(state.faults.cutBeforeStoring) {
                state.end(id, .cut, now: now)
                return nil
            }
            if state.isSwallowed?(message) == true { return nil }
            let reason = state.forbidden.first { $0.filter.matches(message.topic) }?.reason
            if reason == nil { state.receive(message, from: (id, options), isWill: false, now: now) }
            if state.dice.happens(state.faults.cutBeforeAcknowledging) {
                state.end(id, .cut, now: now)
                return nil
            }
            if message.qos == .atLeastOnce {
                // MQTT 3.1.1 cannot refuse a message: the broker acknowledges and drops it.
                let refusal = options.version == .v5 ? reason : nil
                state.send(.acknowledgement(token, refusal: refusal), to: id, now: now)
            }
            return nil
        }
        if let error { throw error }
    }

    /// Adds subscriptions and sends their retained messages.
    func subscribe(_ subscriptions: [Subscription], session id: Int) throws(BrokerError) {
        let now = clock.uptime
        let error: BrokerError? = state.withLock { state in
            state.forgetExpired(now)
            for subscription in subscriptions {
                guard let index = state.index(of: id) else { return .cut }
                guard subscription.filter != state.poisonedSubscription else {
                    state.end(id, .cut, now: now)
                    return .cut
                }
                guard !state.forbiddenSubscriptions.contains(subscription.filter) else {
                    return BrokerError(
                        .subscriptionRefused, "The broker refused the subscription to \(subscription.filter).")
                }
                state.sessions[index].subscriptions.removeAll { $0.filter == subscription.filter }
                state.sessions[index].subscriptions.append(subscription)
                let session = state.sessions[index]
                let filter = TopicFilter(subscription.filter)
                for topic in state.retained.keys.sorted() where filter.matches(topic) {
                    guard let retained = state.retained[topic] else { continue }
                    let message = session.inbound(
                        retained.message, through: subscription, isFromStore: true,
                        expiry: retained.expiresAt.map { $0 - now })
                    state.send(.message(message), to: id, now: now)
                }
            }
            return nil
        }
        if let error { throw error }
    }
}
