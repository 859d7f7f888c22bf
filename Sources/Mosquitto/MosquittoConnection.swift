internal import CMosquitto
import Concurrency
import MQTT
import Synchronization

/// One connection through libmosquitto, from the attempt to its end.
///
/// Three parties meet here. A separate network thread runs libmosquitto, runs all callbacks, and destroys libmosquitto
/// at the end. Publishers call libmosquitto directly, under the lock of `handle`, and wake the thread. The reader waits
/// on the inbox. During calls to libmosquitto only the lock of `handle` is held. The callbacks never take it, which
/// rules out a lock order inversion with libmosquitto's own locks.
final class MosquittoConnection: BrokerConnection {
    /// How the client leaves.
    enum Disconnect: Sendable {
        /// The broker forgets the will.
        case graceful
        /// The broker publishes the will.
        case abrupt
    }

    let options: BrokerOptions
    let server: BrokerServer
    /// The version that this connection offers.
    let version: MQTTVersion
    let inbox: BrokerEventQueue
    let inFlight: InFlightMessages
    let handle = Mutex<MosquittoHandle?>(nil)
    let subscriptions = Mutex(PendingSubscriptions())
    let disconnect = Mutex<Disconnect?>(nil)
    /// libmosquitto's errors and warnings from before the connection was open.
    let log = Mutex<[String]>([])
    /// The reason of the end, from the broker or libmosquitto.
    let disconnectReason = Mutex<Int32?>(nil)
    /// What the broker's refusal says of the version, if there is one.
    let refusal = Mutex<VersionChoice.Refusal?>(nil)
    /// Fulfilled when the broker has accepted or refused the connection.
    let opened = Promise<Result<Void, BrokerError>>()
    /// Fulfilled when the network thread has ended and the socket is closed.
    let finished = Promise<Result<Void, BrokerError>>()
    /// The broker's Maximum Packet Size; 0 if it named none.
    let packetLimit = Atomic(0)
    let wakeUp: WakeUp
    /// The turns of the network thread.
    let turns = TurnProbe()
    /// Whether a wake-up of the thread is pending; saves a system call per message.
    let isAwake = Atomic(false)

    init(options: BrokerOptions, server: BrokerServer, version: MQTTVersion) throws(BrokerError) {
        self.options = options
        self.server = server
        self.version = version
        inbox = BrokerEventQueue(maximumInbound: options.maximumInbound)
        inFlight = InFlightMessages(window: options.window)
        wakeUp = try WakeUp()
    }

    var window: Int { inFlight.window }
    var maximumPacketSize: Int? {
        let limit = packetLimit.load(ordering: .relaxed)
        return limit == 0 ? nil : limit
    }

    func publish(_ message: OutgoingMessage, as token: MessageToken) throws(BrokerError) {
        if let ending = inbox.ending { throw ending }
        guard !message.topic.utf8.contains(0) else {
            // libmosquitto would publish on the part before the zero byte.
            throw BrokerError(.invalidMessage, "The topic \"\(message.topic)\" contains a zero byte.")
        }
        let properties = try MessageProperties(message, version: version)
        guard inFlight.reserve(message.qos) else { throw BrokerError.windowFull(inFlight.window) }
        var id: Int32 = 0
        let code = handle.withLock { handle in
            guard let handle else { return MOSQ_ERR_NO_CONN.rawValue }
            return mosquitto_publish_v5(
                handle.pointer, &id, message.topic, Int32(clamping: message.payload.count), message.payload,
                Int32(message.qos.rawValue), message.isRetained, properties.list)
        }
        guard code == MOSQ_ERR_SUCCESS.rawValue else {
            inFlight.cancel(message.qos)
            throw inbox.ending ?? .notPublished(code, topic: message.topic, server: server)
        }
        // Noted before waking the thread: an acknowledgement is then early only if the thread was already sending.
        if let settlement = inFlight.note(id, token: message.qos == .atLeastOnce ? token : nil) {
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

    func nextEvents() async throws(BrokerError) -> BrokerEvents {
        let events = try await inbox.next()
        // The thread may wait for room.
        if !events.received.isEmpty { wakeNetworkThread() }
        return events
    }

    func takeEvents() -> BrokerEvents { inbox.takeAll() }

    /// Sends a subscription; the reply is the code of the broker's answer.
    private func request(_ subscription: Subscription) throws(BrokerError) -> Promise<Result<Int32, BrokerError>> {
        if let ending = inbox.ending { throw ending }
        var flags: UInt32 = 0
        if version == .v5 {
            if subscription.retainsAsPublished { flags |= MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue }
            if subscription.isWithoutOwn { flags |= MQTT_SUB_OPT_NO_LOCAL.rawValue }
        }
        let reply = Promise<Result<Int32, BrokerError>>()
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
        if let code = subscriptions.withLock({ $0.note(id, reply) }) { reply.fulfil(.success(code)) }
        // The connection may have ended before the reply was noted; nothing else would fulfil the reply.
        if let ending = inbox.ending { reply.fulfil(.failure(ending)) }
        wakeNetworkThread()
        return reply
    }

    /// Makes the network thread check for data to send and for a disconnect.
    func wakeNetworkThread() {
        if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { wakeUp.set() }
    }

    /// Adds the outcome of a message to the inbox.
    func report(_ settlement: InFlightMessages.Settlement) {
        guard let token = settlement.token else { return }
        inbox.acknowledge(token, refusal: settlement.refusal)
    }

    /// Asks the network thread to leave; only the first request counts.
    func leave(_ disconnect: Disconnect) {
        self.disconnect.withLock { current in if current == nil { current = disconnect } }
        wakeNetworkThread()
    }
}

/// Unanswered subscriptions by packet identifier. As with messages, the answer may arrive before the request is
/// noted.
struct PendingSubscriptions: Sendable {
    private var waiting: [Int32: Promise<Result<Int32, BrokerError>>] = [:]
    private var early: [Int32: Int32] = [:]

    /// Notes a pending reply. Returns the answer if it has already arrived.
    mutating func note(_ id: Int32, _ reply: Promise<Result<Int32, BrokerError>>) -> Int32? {
        if let code = early.removeValue(forKey: id) { return code }
        waiting[id] = reply
        return nil
    }

    /// Accepts an answer. Returns the pending reply; keeps an early answer.
    mutating func remove(_ id: Int32, _ code: Int32) -> Promise<Result<Int32, BrokerError>>? {
        guard let reply = waiting.removeValue(forKey: id) else {
            early[id] = code
            return nil
        }
        return reply
    }

    /// Removes all pending replies, because no answer can arrive any more.
    mutating func takeAll() -> [Promise<Result<Int32, BrokerError>>] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}

extension Promise {
    /// Waits at most `limit` for the result of a request to the broker.
    /// - Throws: the error of the request, `.timedOut` with `message`, or `.cancelled`.
    func value<Success>(
        within limit: Duration, orTimeOut message: String
    ) async throws(BrokerError) -> Success where Value == Result<Success, BrokerError> {
        let reply = await race(against: { try await Task.sleep(for: limit, clock: .continuous) }) {
            (try? await self.wait()) ?? .failure(.cancelled)
        }
        return try (reply ?? .failure(BrokerError(.timedOut, message))).get()
    }
}
