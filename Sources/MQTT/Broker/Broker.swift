/// An MQTT broker to which connections can be opened, one at a time.
///
/// A connection is never repaired: when it breaks, `withConnection` throws, and the caller opens a new one, subscribes
/// again and publishes again what was not acknowledged. Nothing survives in a hidden queue, so the caller's own outbox
/// is the only truth about what is unsent.
package protocol Broker: Sendable {
    /// Connects, runs `body` while the connection is held, and disconnects.
    ///
    /// Returning from `body` says good-bye: the broker discards the will. Throwing (a cancellation included) leaves
    /// without a good-bye: the broker publishes the will at once. A stop that wants no will therefore publishes its
    /// last message, waits for the acknowledgement, and returns.
    /// - Throws: `BrokerError` when the connection could not be opened (also `.cancelled`), else what `body` throws.
    func withConnection(_ body: @Sendable (any BrokerConnection) async throws -> Void) async throws
}

/// An open connection to a broker. All members are safe to use from several tasks; `nextEvents` by one at a time.
package protocol BrokerConnection: Sendable {
    /// The protocol that is spoken.
    var version: MQTTVersion { get }

    /// How many messages may be published and not yet acknowledged: the smaller one of the configured window and of
    /// what the broker announced.
    var window: Int { get }

    /// Hands a message over and returns at once, without waiting for the network.
    ///
    /// The caller chooses `token` and finds it again in `BrokerEvents.acknowledged` or `.refused`, so that it can note
    /// what the token stands for beforehand: an acknowledgement may come before this returns. Tokens need not be
    /// unique for the broker. A message of quality of service 0 is never reported.
    /// - Throws: `BrokerError`: `.windowFull` (wait for events), `.invalidMessage` (never send it again), `.broken`.
    func publish(_ message: OutboundMessage, as token: MessageToken) throws(BrokerError)

    /// Subscribes, and returns when the broker has granted all of `subscriptions`.
    /// - Throws: `BrokerError`: `.subscriptionRefused` naming the topic filter, `.broken`, `.timedOut`, `.cancelled`.
    func subscribe(_ subscriptions: [Subscription]) async throws(BrokerError)

    /// Waits until something has happened, and returns everything that happened since the last call; never empty.
    ///
    /// What happened before the end of the connection is returned before the end is thrown.
    /// - Throws: `BrokerError`: `.broken` when the connection ended (again at each further call), `.cancelled` when
    ///   the calling task was cancelled (the connection is still there, nothing is lost).
    func nextEvents() async throws(BrokerError) -> BrokerEvents
}

extension BrokerConnection {
    /// Publishes a message whose acknowledgement nobody waits for.
    package func publish(_ message: OutboundMessage) throws(BrokerError) {
        try publish(message, as: .unnamed)
    }
}
