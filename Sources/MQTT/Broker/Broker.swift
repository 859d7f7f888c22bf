/// An MQTT broker that accepts one connection at a time from this client.
///
/// A connection is never repaired: when it breaks, `withConnection` throws, and the caller opens a new one, subscribes
/// again and publishes again what was not acknowledged. Nothing survives in a hidden queue, so the caller's own outbox
/// is the only truth about what is unsent.
package protocol Broker: Sendable {
    /// Connects, runs `body` while the connection is held, and disconnects.
    ///
    /// Returning from `body` disconnects gracefully: the broker discards the will. Throwing (a cancellation included)
    /// disconnects abruptly: the broker publishes the will at once. To stop without a will, `body` therefore publishes
    /// its last message, waits for the acknowledgement, and returns.
    /// - Throws: `BrokerError` when the connection cannot be opened (also `.cancelled`), else the error of `body`.
    func withConnection(_ body: @Sendable (any BrokerConnection) async throws -> Void) async throws
}

/// An open connection to a broker. Several tasks may use all members; only one task at a time calls `nextEvents`.
package protocol BrokerConnection: Sendable {
    /// The protocol version in use.
    var version: MQTTVersion { get }

    /// The maximum number of unacknowledged messages: the smaller of the configured window and the broker's
    /// receive maximum.
    var window: Int { get }

    /// The broker's Maximum Packet Size in bytes; `nil` if it names none, as always with MQTT 3.1.1.
    var maximumPacketSize: Int? { get }

    /// Hands a message over and returns at once, without waiting for the network.
    ///
    /// The caller chooses `token` and finds it again in `BrokerEvents.acknowledged` or `.refused`. It can record the
    /// token's meaning beforehand, because an acknowledgement may arrive before this returns. The broker does not
    /// need unique tokens. A message of quality of service 0 is never reported.
    /// - Throws: `BrokerError`: `.windowFull` (wait for events), `.invalidMessage` (never send it again), `.broken`.
    func publish(_ message: OutgoingMessage, as token: MessageToken) throws(BrokerError)

    /// Subscribes, and returns when the broker has granted all of `subscriptions`.
    /// - Throws: `BrokerError`: `.subscriptionRefused` naming the topic filter, `.broken`, `.timedOut`, `.cancelled`.
    func subscribe(_ subscriptions: [Subscription]) async throws(BrokerError)

    /// Waits for events, and returns all events since the last call; never empty.
    ///
    /// Events from before the end of the connection are returned before the end is thrown.
    /// - Throws: `BrokerError`: `.broken` when the connection ended (again at each further call), `.cancelled` when
    ///   the calling task was cancelled (the connection stays open, nothing is lost).
    func nextEvents() async throws(BrokerError) -> BrokerEvents

    /// Takes the events since the last call without waiting; there may be none.
    ///
    /// After `withConnection` has returned or thrown, nothing is added any more. A caller that takes the rest then loses no
    /// message that was acknowledged to the broker.
    func takeEvents() -> BrokerEvents
}

extension BrokerConnection {
    /// Publishes a message without tracking its acknowledgement.
    package func publish(_ message: OutgoingMessage) throws(BrokerError) {
        try publish(message, as: .unnamed)
    }
}

/// A client's request for messages.
package struct Subscription: Sendable, Hashable {
    /// A topic, with `+` for one level and a `#` at the end for all further ones.
    package var filter: String
    /// The maximum quality of service for delivery.
    package var qos: QualityOfService
    /// MQTT 5 only: a message keeps its original retain flag. This distinguishes a command published with retain from
    /// a live one, even when it arrives live.
    package var retainsAsPublished: Bool
    /// MQTT 5 only: the client does not receive its own messages.
    package var isWithoutOwn: Bool

    /// A subscription; quality of service 1 and no options by default.
    package init(
        _ filter: String, qos: QualityOfService = .atLeastOnce, retainsAsPublished: Bool = false,
        isWithoutOwn: Bool = false
    ) {
        self.filter = filter
        self.qos = qos
        self.retainsAsPublished = retainsAsPublished
        self.isWithoutOwn = isWithoutOwn
    }
}
