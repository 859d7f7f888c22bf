import Contract
import Engines
import GatewayKit
import Logging
import MQTT
import Vitals

/// Keeps the gateway connected with the broker: for ever, with waits that double, and without anything being lost meanwhile.
struct BrokerLoop: Sendable {
    let broker: any Broker
    let publisher: Publisher
    let inbox: @Sendable (InboundMessage) async -> Void
    /// What is to happen with each new connection, before anything is published.
    let connected: @Sendable () async -> Void
    let status: BrokerStatus

    /// A connection that held so long was good: the waits begin anew.
    private static let stableAfter: Duration = .seconds(30)
    /// A broker that is restarted comes back within minutes, and what waits for it should not wait longer: attempts stay
    /// close together at first.
    private static let shortWaits = BackOff(first: .milliseconds(250), longest: .milliseconds(1500))
    /// One that is away for longer is not asked more often than it needs.
    private static let longWaits = BackOff(first: .seconds(2), longest: .seconds(30))
    private static let longAway: Duration = .minutes(5)

    func run(generator: any RandomNumberGenerator & Sendable) async {
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
            publisher.board.disconnect()
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
        var failures = FailureCount()
        await publisher.keepWatermarks(&failures)
    }

    private func serve(_ connection: any BrokerConnection) async throws {
        let settings = publisher.settings
        let topics = settings.topics
        try connection.publish(
            publisher.wire.status(isOnline: true), as: MessageToken(rawValue: DeliveryMark.state.token))
        publisher.outbox.connect(window: connection.window)
        publisher.outbox.sentState()
        publisher.board.connect()
        try await connection.subscribe(publisher.wire.subscriptions)
        status.connected()
        settings.logger.info("The broker is connected.", metadata: ["topics": "\(topics.base)"])
        await connected()
        let due = Wakeup()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await publisher.run(on: connection) }
            group.addTask { await publisher.keepWatermarks(due) }
            group.addTask { try await receive(from: connection, due) }
            try await group.next()
        }
    }

    private func receive(from connection: any BrokerConnection, _ due: Wakeup) async throws {
        while true {
            let events = try await connection.nextEvents()
            if !events.acknowledged.isEmpty {
                publisher.outbox.acknowledged(events.acknowledged.map { DeliveryMark(token: $0.rawValue) })
                due.wake()
            }
            for refused in events.refused {
                let mark = DeliveryMark(token: refused.token.rawValue)
                // What is refused now may be taken later; what never can be is given up, and said. A fact waits until the
                // broker's access list is mended. An answer does not: whoever asked chose its topic, and could keep the
                // gateway connecting for ever. Nor does a state, which is sent again with the next connection.
                if refused.reason.isTemporary || (refused.reason == .notAuthorized && mark.isFact) {
                    throw BrokerError(.notAuthorized, "The broker refuses to take a message: \(refused.reason).")
                }
                publisher.settings.logger.error(
                    "The broker does not take a message; it is given up.",
                    metadata: ["message": "\(mark)", "reason": "\(refused.reason)"])
                status.dropped()
                publisher.outbox.acknowledged([mark])
            }
            if events.droppedCount > 0 {
                publisher.settings.logger.warning(
                    "Commands came faster than they could be taken, and some were dropped.",
                    metadata: ["count": "\(events.droppedCount)"])
                status.dropped(events.droppedCount)
            }
            for message in events.received { await inbox(message) }
        }
    }
}
