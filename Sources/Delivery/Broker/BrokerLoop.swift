import Concurrency
import Contract
import Logging
package import MQTT
package import StoreAPI
import Vitals

/// Keeps the gateway connected to the broker: reconnects for ever with doubling waits, and loses nothing meanwhile.
package struct BrokerLoop: Sendable {
    private let broker: any Broker
    private let publisher: Publisher
    private let watermarks: Watermarks
    private let inbox: @Sendable (InboundMessage) async -> Void
    private let connected: @Sendable () async -> Void
    private var status: BrokerStatus { publisher.status }

    /// A loop for a broker.
    /// - Parameters:
    ///   - inbox: handles received messages.
    ///   - connected: runs for each new connection, before anything is published.
    package init(
        broker: any Broker, store: any OutboxStore, outbox: Outbox, retained: RetainedStates, codec: ContractCodec,
        status: BrokerStatus, settings: DeliverySettings, inbox: @escaping @Sendable (InboundMessage) async -> Void,
        connected: @escaping @Sendable () async -> Void
    ) {
        self.broker = broker
        publisher = Publisher(
            outbox: outbox, retained: retained, status: status, store: store, codec: codec, settings: settings)
        watermarks = Watermarks(outbox: outbox, store: store, settings: settings)
        self.inbox = inbox
        self.connected = connected
    }

    /// Minimum duration of a stable connection, after which the waits start again at the shortest.
    private static let stableAfter: Duration = .seconds(30)
    /// Waits at first. A restarted broker returns within minutes; frequent attempts then deliver the outbox without
    /// further delay.
    private static let shortWaits = BackOff(first: .milliseconds(250), longest: .milliseconds(1500))
    /// Waits for a broker that is away for longer, to spare it needless attempts.
    private static let longWaits = BackOff(first: .seconds(2), longest: .seconds(30))
    private static let longAway: Duration = .minutes(5)

    /// Runs until the task is cancelled.
    package func run(generator: any RandomNumberGenerator & Sendable) async {
        var generator = generator
        var backOff = Self.shortWaits
        var lostAt: Duration?
        let settings = publisher.settings
        while !Task.isCancelled {
            let began = settings.clock.uptime
            do {
                try await broker.withConnection { connection in try await serve(connection) }
            } catch is CancellationError {
                break
            } catch let error as BrokerError where error.code == .cancelled {
                break
            } catch {
                status.failed("\(error)")
                settings.logger.warning("The broker is not connected.", metadata: ["error": "\(error)"])
            }
            publisher.outbox.disconnect()
            publisher.retained.disconnect()
            let now = settings.clock.uptime
            if now - began > Self.stableAfter {
                backOff = Self.shortWaits
                lostAt = now
            } else if now - (lostAt ?? began) > Self.longAway, backOff.longest == Self.shortWaits.longest {
                backOff = Self.longWaits
            }
            lostAt = lostAt ?? began
            do { try await settings.clock.sleep(for: backOff.next(using: &generator)) } catch { break }
        }
        await watermarks.storeAll()
    }

    private func serve(_ connection: any BrokerConnection) async throws {
        let settings = publisher.settings
        let topics = settings.topics
        try connection.publish(
            publisher.codec.status(isOnline: true), as: MessageToken(rawValue: DeliveryMark.state.token))
        publisher.outbox.connect(window: connection.window)
        publisher.outbox.sentState()
        publisher.retained.connect()
        try await connection.subscribe(publisher.codec.subscriptions)
        status.connected()
        settings.logger.info("The broker is connected.", metadata: ["topics": "\(topics.base)"])
        await connected()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await publisher.run(on: connection) }
            group.addTask { await watermarks.run() }
            group.addTask { try await receive(from: connection) }
            try await group.next()
        }
    }

    private func receive(from connection: any BrokerConnection) async throws {
        defer { status.receiving.end() }
        while true {
            status.receiving.end()
            let events = try await connection.nextEvents()
            status.receiving.begin()
            watermarks.acknowledged(events.acknowledged.map { DeliveryMark(token: $0.rawValue) })
            for refused in events.refused {
                let mark = DeliveryMark(token: refused.token.rawValue)
                // A temporary refusal is retried; a permanent one drops the message and logs it. A fact waits until the
                // broker's access list is corrected. An answer does not: the sender of the command chose its topic, and
                // could keep the gateway reconnecting for ever. Nor does a state: the next connection sends it again.
                if refused.reason.isTemporary || (refused.reason == .notAuthorized && mark.isFact) {
                    throw BrokerError(.notAuthorized, "The broker refused a message: \(refused.reason).")
                }
                publisher.settings.logger.error(
                    "The broker refused a message; it is dropped.",
                    metadata: ["message": "\(mark)", "reason": "\(refused.reason)"])
                status.dropped()
                watermarks.acknowledged([mark])
            }
            if events.droppedCount > 0 {
                publisher.settings.logger.warning(
                    "Commands arrived faster than the gateway could take them; some were dropped.",
                    metadata: ["count": "\(events.droppedCount)"])
                status.dropped(events.droppedCount)
            }
            for message in events.received {
                await inbox(message)
                status.receiving.turn()
            }
        }
    }
}
