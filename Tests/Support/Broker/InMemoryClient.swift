package import MQTT

/// The connection options of an `InMemoryBroker`'s client.
package struct InMemoryClientOptions: Sendable {
    /// The client's name; a second connection with the same name ends the first.
    package var id: String
    /// Its protocol version.
    package var version: MQTTVersion
    /// The message published when it disconnects without a graceful disconnect.
    package var will: OutgoingMessage?
    /// The most unacknowledged messages.
    package var window: Int
    /// The most received messages that may wait.
    package var maximumInbound: Int
    /// The most bytes kept of a received payload.
    package var maximumInboundPayload: Int

    /// Creates options, with the real broker's defaults.
    package init(
        id: String, version: MQTTVersion = .v5, will: OutgoingMessage? = nil,
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
                broker.close(session, isDisconnect: false)
                group.cancelAll()
                throw error
            }
            broker.close(session, isDisconnect: true)
            group.cancelAll()
        }
    }
}

/// One open connection to an `InMemoryBroker`.
struct InMemoryConnection: BrokerConnection {
    let broker: InMemoryBroker
    let session: Int
    let inbox: BrokerEventQueue
    let options: InMemoryClientOptions

    var version: MQTTVersion { options.version }
    var window: Int { options.window }
    var maximumPacketSize: Int? { version == .v5 ? broker.maximumPacketSize : nil }

    func publish(_ message: OutgoingMessage, as token: MessageToken) throws(BrokerError) {
        if let ending = inbox.ending { throw ending }
        try broker.publish(message, as: token, from: session)
    }

    func subscribe(_ subscriptions: [Subscription]) async throws(BrokerError) {
        try await broker.travel()
        if let ending = inbox.ending { throw ending }
        try broker.subscribe(subscriptions, session: session)
    }

    func nextEvents() async throws(BrokerError) -> BrokerEvents { try await inbox.next() }

    func takeEvents() -> BrokerEvents { inbox.takeAll() }
}
