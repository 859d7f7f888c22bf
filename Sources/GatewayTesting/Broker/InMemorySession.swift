import MQTT

/// One connection of a client, as the in-memory broker sees it.
struct InMemorySession {
    /// What is on its way to the client.
    enum Event {
        case acknowledgement(MessageToken, refusal: RefusalReason?)
        case message(InboundMessage)
    }

    let id: Int
    let options: InMemoryClientOptions
    let inbox: ConnectionInbox
    var subscriptions: [Subscription] = []
    var inFlight = 0
    var isHeld = false
    private var line: [(due: Duration, event: Event)] = []
    private var pump: CheckedContinuation<Void, Never>?

    init(id: Int, options: InMemoryClientOptions) {
        self.id = id
        self.options = options
        inbox = ConnectionInbox(maximumInbound: options.maximumInbound)
    }

    /// When the first event that is on its way arrives; `nil` if none is.
    var nextDue: Duration? { isHeld ? nil : line.first?.due }

    /// Sends an event on its way; events arrive in the order in which they were sent.
    mutating func send(_ event: Event, due: Duration, now: Duration) {
        line.append((max(due, line.last?.due ?? .zero), event))
        arrive(now)
        if nextDue != nil { pump.take()?.resume() }
    }

    /// Hands over everything that has arrived by `now`.
    mutating func arrive(_ now: Duration) {
        guard !isHeld else { return }
        var count = 0
        for (due, event) in line {
            guard due <= now else { break }
            count += 1
            switch event {
            case .acknowledgement(let token, let refusal):
                inFlight -= 1
                inbox.acknowledge(token, refusal: refusal)
            case .message(let message):
                inbox.receive(message)
            }
        }
        line.removeFirst(count)
        if count > 0 { inbox.wake() }
    }

    /// Lets events through again after `isHeld`.
    mutating func release(now: Duration) {
        isHeld = false
        arrive(now)
        if nextDue != nil { pump.take()?.resume() }
    }

    /// Resumes `continuation` when there is something to wait for on the clock.
    mutating func park(_ continuation: CheckedContinuation<Void, Never>, isCancelled: Bool) {
        if isCancelled || nextDue != nil { continuation.resume() } else { pump = continuation }
    }

    /// Resumes the task that moves events, so that it can end.
    mutating func unpark() { pump.take()?.resume() }

    /// The message as this client receives it through `subscription`.
    func inbound(
        _ message: OutboundMessage, through subscription: Subscription, isFromStore: Bool, expiry: Duration?
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
