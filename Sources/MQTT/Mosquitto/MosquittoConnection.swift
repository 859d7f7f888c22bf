internal import CMosquitto
import Synchronization

/// One connection through libmosquitto, from the attempt to its end.
///
/// Three parties meet here. A network thread of its own runs libmosquitto, destroys it at the end, and is the only one
/// in whose callbacks things happen. Publishers call libmosquitto directly, under the lock of `handle`, and wake the
/// thread. The reader waits on the inbox. No lock is held while libmosquitto is called but that of `handle`, which the
/// callbacks never take, so that libmosquitto's own locks cannot meet ours the other way round.
final class MosquittoConnection: BrokerConnection {
    /// How the client leaves.
    enum Farewell: Sendable {
        /// The broker forgets the will.
        case goodbye
        /// The broker publishes the will.
        case none
    }

    let options: BrokerOptions
    let server: BrokerServer
    let inbox: ConnectionInbox
    let ledger: InFlightLedger
    let handle = Mutex<MosquittoHandle?>(nil)
    let subscriptions = Mutex(PendingSubscriptions())
    let farewell = Mutex<Farewell?>(nil)
    /// What libmosquitto complained about before the connection stood.
    let log = Mutex<[String]>([])
    /// The reason that the broker or libmosquitto gave for the end.
    let disconnectReason = Mutex<Int32?>(nil)
    /// Fulfilled when the broker has accepted or refused the connection.
    let opened = Reply<Void>()
    /// Fulfilled when the network thread is through, and the socket closed.
    let finished = Reply<Void>()
    let wakeUp: WakeUp
    /// Whether the thread has been woken and has not looked yet; saves a system call per message.
    let isAwake = Atomic(false)

    init(options: BrokerOptions, server: BrokerServer) throws(BrokerError) {
        self.options = options
        self.server = server
        inbox = ConnectionInbox(maximumInbound: options.maximumInbound)
        ledger = InFlightLedger(window: options.window)
        wakeUp = try WakeUp()
    }

    var version: MQTTVersion { options.version }
    var window: Int { ledger.window }

    func publish(_ message: OutboundMessage, as token: MessageToken) throws(BrokerError) {
        if let ending = inbox.ending { throw ending }
        guard !message.topic.utf8.contains(0) else {
            // libmosquitto would publish on the part before it.
            throw BrokerError(.invalidMessage, "The topic \"\(message.topic)\" contains a zero byte.")
        }
        let properties = try MessageProperties(message, version: options.version)
        guard ledger.reserve(message.qos) else { throw BrokerError.windowFull(ledger.window) }
        var id: Int32 = 0
        let code = handle.withLock { handle in
            guard let handle else { return MOSQ_ERR_NO_CONN.rawValue }
            return mosquitto_publish_v5(
                handle.pointer, &id, message.topic, Int32(clamping: message.payload.count), message.payload,
                Int32(message.qos.rawValue), message.isRetained, properties.list)
        }
        guard code == MOSQ_ERR_SUCCESS.rawValue else {
            ledger.cancel(message.qos)
            throw inbox.ending ?? .notPublished(code, topic: message.topic, server: server)
        }
        // Noted before the thread is woken: an acknowledgement is then early only if the thread was just sending.
        if let settlement = ledger.note(id, token: message.qos == .atLeastOnce ? token : nil) {
            report(settlement)
            inbox.wake()
        }
        wakeNetworkThread()
    }

    func subscribe(_ subscriptions: [Subscription]) async throws(BrokerError) {
        for subscription in subscriptions {
            let reply = try request(subscription)
            let code = try await reply.value(
                within: options.timeout,
                orTimeOut: "\(server) did not answer the subscription to \(subscription.filter).")
            guard code < 0x80 else {
                let reason = String(cString: mosquitto_reason_string(code))
                throw BrokerError(
                    .subscriptionRefused,
                    "\(server) refused the subscription to \(subscription.filter): \(reason) "
                        + "Check the broker's access rules.")
            }
        }
    }

    func nextEvents() async throws(BrokerError) -> BrokerEvents { try await inbox.next() }

    /// Sends a subscription; the reply is the code of the broker's answer.
    private func request(_ subscription: Subscription) throws(BrokerError) -> Reply<Int32> {
        if let ending = inbox.ending { throw ending }
        var flags: UInt32 = 0
        if options.version == .v5 {
            if subscription.retainsAsPublished { flags |= MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue }
            if subscription.isWithoutOwn { flags |= MQTT_SUB_OPT_NO_LOCAL.rawValue }
        }
        let reply = Reply<Int32>()
        var id: Int32 = 0
        let code = handle.withLock { handle in
            guard let handle else { return MOSQ_ERR_NO_CONN.rawValue }
            return mosquitto_subscribe_v5(
                handle.pointer, &id, subscription.filter, Int32(subscription.qos.rawValue), Int32(flags), nil)
        }
        guard code == MOSQ_ERR_SUCCESS.rawValue else {
            if let ending = inbox.ending { throw ending }
            guard code != MOSQ_ERR_NO_CONN.rawValue else { throw .broken(code, server: server) }
            let reason = String(cString: mosquitto_strerror(code))
            throw BrokerError(.subscriptionRefused, "\(subscription.filter) is not a topic filter: \(reason)")
        }
        subscriptions.withLock { $0.note(id, reply) }
        // The connection may have ended before the reply was noted, and nobody would answer it.
        if let ending = inbox.ending { reply.fulfil(.failure(ending)) }
        wakeNetworkThread()
        return reply
    }

    /// Makes the network thread look for something to send, or for a farewell.
    func wakeNetworkThread() {
        if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { wakeUp.set() }
    }

    /// Puts what became of a message into the inbox.
    func report(_ settlement: InFlightLedger.Settlement) {
        guard let token = settlement.token else { return }
        inbox.acknowledge(token, refusal: settlement.refusal)
    }

    /// Asks the network thread to leave; only the first farewell counts.
    func leave(_ farewell: Farewell) {
        self.farewell.withLock { current in if current == nil { current = farewell } }
        wakeNetworkThread()
    }
}

/// Subscriptions that the broker has not answered, by packet identifier. As with messages, the answer may come before
/// the question is noted.
struct PendingSubscriptions: Sendable {
    private var waiting: [Int32: Reply<Int32>] = [:]
    private var early: [Int32: Int32] = [:]

    mutating func note(_ id: Int32, _ reply: Reply<Int32>) {
        if let code = early.removeValue(forKey: id) { reply.fulfil(.success(code)) } else { waiting[id] = reply }
    }

    mutating func answer(_ id: Int32, _ code: Int32) {
        if let reply = waiting.removeValue(forKey: id) { reply.fulfil(.success(code)) } else { early[id] = code }
    }

    mutating func end(_ error: BrokerError) {
        for reply in waiting.values { reply.fulfil(.failure(error)) }
        waiting = [:]
    }
}
