import Concurrency
import MQTT
import Vitals

/// One client connection in the in-memory broker.
struct InMemorySession {
    /// An event in transit to the client.
    enum Event {
        case acknowledgement(MessageToken, refusal: BrokerRefusal?)
        case message(InboundMessage)
    }

    let id: Int
    let options: InMemoryClientOptions
    let inbox: BrokerEventQueue
    var subscriptions: [Subscription] = []
    var inFlight = 0
    var isHeld = false
    /// What the client has received, and not dropped.
    private(set) var received: [ReceivedMessage] = []
    private var queue: [(due: Duration, event: Event)] = []
    /// Wakes the task that delivers events.
    let pump = Signal()

    init(id: Int, options: InMemoryClientOptions) {
        self.id = id
        self.options = options
        inbox = BrokerEventQueue(maximumInbound: options.maximumInbound)
    }

    /// When the next event arrives; `nil` if none is in transit.
    var nextDue: Duration? { isHeld ? nil : queue.first?.due }

    /// Sends an event; events arrive in the order of sending.
    mutating func send(_ event: Event, due: Duration, now: Duration) {
        queue.append((max(due, queue.last?.due ?? .zero), event))
        arrive(now)
        if nextDue != nil { pump.wake() }
    }

    /// Delivers every event due by `now`.
    mutating func arrive(_ now: Duration) {
        guard !isHeld else { return }
        var count = 0
        for (due, event) in queue {
            guard due <= now else { break }
            count += 1
            switch event {
            case .acknowledgement(let token, let refusal):
                inFlight -= 1
                inbox.acknowledge(token, refusal: refusal)
            case .message(let message):
                if inbox.receive(message) { received.append(ReceivedMessage(message: message, uptime: due)) }
            }
        }
        queue.removeFirst(count)
        if count > 0 { inbox.wake() }
    }

    /// Resumes delivery after `isHeld`.
    mutating func release(now: Duration) {
        isHeld = false
        arrive(now)
        if nextDue != nil { pump.wake() }
    }

    /// The message as this client receives it from another one, or from itself; `nil` if it has not subscribed to it.
    func inbound(_ message: OutgoingMessage, from sender: Int?, expiry: Duration?) -> InboundMessage? {
        let isOwn = options.version == .v5 && id == sender
        // One copy at the highest quality of service, however many subscriptions overlap (section 3.3.4).
        let best = subscriptions.filter { !($0.isWithoutOwn && isOwn) && TopicFilter($0.filter).matches(message.topic) }
            .max { $0.qos.rawValue < $1.qos.rawValue }
        return best.map { inbound(message, through: $0, isFromStore: false, expiry: expiry) }
    }

    /// The message as this client receives it through `subscription`.
    func inbound(
        _ message: OutgoingMessage, through subscription: Subscription, isFromStore: Bool, expiry: Duration?
    ) -> InboundMessage {
        let isV5 = options.version == .v5
        return InboundMessage(
            topic: message.topic, payload: Array(message.payload.prefix(options.maximumInboundPayload)),
            payloadSize: message.payload.count,
            qos: min(message.qos.rawValue, subscription.qos.rawValue) == 0 ? .atMostOnce : .atLeastOnce,
            isRetained: isFromStore || (isV5 && subscription.retainsAsPublished && message.isRetained),
            responseTopic: isV5 ? message.responseTopic : nil,
            correlationData: isV5 ? message.correlationData : nil, expiry: isV5 ? expiry : nil)
    }
}
