import Contract
import GatewayKit
import HomeAssistant
import Logging
import MQTT
import Mosquitto
package import Vitals

/// Empties what a gateway has left at its broker, its topics and its announcements. For one that does not come back.
package struct RetainedCleaning: Sendable {
    /// The time without a further message after which all that the broker keeps has come.
    static let silence: Duration = .seconds(1)
    /// The time for reading it, and that for emptying it: a busy broker answers within seconds.
    static let timeout: Duration = .seconds(5)

    private let configuration: GatewayConfiguration
    private let clock: GatewayClock

    /// Cleans up after the gateway of this configuration, which has ended.
    package init(after configuration: GatewayConfiguration, clock: GatewayClock = .system) {
        self.configuration = configuration
        self.clock = clock
    }

    /// Empties the topics that are not empty.
    /// - Throws: `ToolFailure` if the broker does not let it.
    package func run() async throws(ToolFailure) {
        do {
            let silent = Logger(label: "cleaning") { _ in SwiftLogNoOpLogHandler() }
            let broker = try MosquittoBroker(configuration.mqtt.brokerOptions, logger: silent)
            try await broker.withConnection { connection in
                let kept = try await topics(on: connection)
                let isDone = await clock.withTimeout(Self.timeout) { (try? await empty(kept, on: connection)) != nil }
                guard isDone == true else { throw BrokerError(.timedOut, "The broker does not answer.") }
            }
        } catch {
            throw ToolFailure("\(configuration.topics.root) still has retained messages at the broker: \(error)")
        }
    }

    /// The topics of the gateway that have a retained message.
    private func topics(on connection: any BrokerConnection) async throws -> [String] {
        let (root, announcements) = (configuration.topics.root, configuration.announcements)
        try await connection.subscribe((["\(root)/#"] + announcements.sweepFilters).map { Subscription($0) })
        var found: Set<String> = []
        let end = clock.uptime + Self.timeout
        while clock.uptime < end {
            // What was not taken in time comes with the next call.
            let events: BrokerEvents? =
                await clock.withTimeout(Self.silence) { try? await connection.nextEvents() } ?? nil
            guard let events else { break }
            for message in events.received where message.isRetained && !message.payload.isEmpty {
                let isOwn =
                    message.topic.hasPrefix("\(root)/")
                    || announcements.isStale(topic: message.topic, payload: message.payload, current: [])
                if isOwn { found.insert(message.topic) }
            }
        }
        return found.sorted()
    }

    private func empty(_ topics: [String], on connection: any BrokerConnection) async throws {
        var waiting = 0
        for (number, topic) in topics.enumerated() {
            while waiting >= connection.window {
                let answers = try await connection.nextEvents().answers
                waiting -= answers
            }
            try connection.publish(.removal(of: topic), as: MessageToken(rawValue: Int64(number)))
            waiting += 1
        }
        while waiting > 0 {
            let answers = try await connection.nextEvents().answers
            waiting -= answers
        }
    }
}

extension BrokerEvents {
    /// How many published messages were answered.
    fileprivate var answers: Int { acknowledged.count + refused.count }
}
