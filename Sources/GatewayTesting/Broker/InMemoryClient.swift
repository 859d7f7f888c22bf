package import MQTT

/// How a client of an `InMemoryBroker` connects.
package struct InMemoryClientOptions: Sendable {
    /// The client's name; a second connection of the same name ends the first.
    package var id: String
    /// The protocol that it speaks.
    package var version: MQTTVersion
    /// What is published when it is gone without a good-bye.
    package var will: OutboundMessage?
    /// How many messages it may have unacknowledged.
    package var window: Int
    /// How many received messages may wait to be taken.
    package var maximumInbound: Int
    /// How many bytes of a received payload are kept.
    package var maximumInboundPayload: Int

    /// Options, with the real broker's defaults.
    package init(
        id: String, version: MQTTVersion = .v5, will: OutboundMessage? = nil,
        window: Int = BrokerOptions.defaultWindow, maximumInbound: Int = BrokerOptions.defaultMaximumInbound,
        maximumInboundPayload: Int = BrokerOptions.defaultMaximumInboundPayload
    ) {
        self.id = id
        self.version = version
        self.will = will
        self.window = window
        self.maximumInbound = maximumInbound
        self.maximumInboundPayload = maximumInboundPayload
    }
}

/// The `Broker` of one client of an `InMemoryBroker`.
struct InMemoryClient: Broker {
    let broker: InMemoryBroker
    let options: InMemoryClientOptions

    func withConnection(_ body: @Sendable (any BrokerConnection) async throws -> Void) async throws {
        try await broker.travel()
        let (session, inbox) = try broker.open(options)
        let connection = InMemoryConnection(broker: broker, session: session, inbox: inbox, options: options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await broker.move(session) }
            do {
                try await body(connection)
            } catch {
                broker.close(session, isGoodbye: false)
                group.cancelAll()
                throw error
            }
            broker.close(session, isGoodbye: true)
            group.cancelAll()
        }
    }
}

/// One open connection to an `InMemoryBroker`.
struct InMemoryConnection: BrokerConnection {
    let broker: InMemoryBroker
    let session: Int
    let inbox: ConnectionInbox
    let options: InMemoryClientOptions

    var version: MQTTVersion { options.version }
    var window: Int { options.window }

    func publish(_ message: OutboundMessage, as token: MessageToken) throws(BrokerError) {
        if let ending = inbox.ending { throw ending }
        try broker.publish(message, as: token, from: session)
    }

    func subscribe(_ subscriptions: [Subscription]) async throws(BrokerError) {
        try await broker.travel()
        if let ending = inbox.ending { throw ending }
        try broker.subscribe(subscriptions, session: session)
    }

    func nextEvents() async throws(BrokerError) -> BrokerEvents { try await inbox.next() }
}
