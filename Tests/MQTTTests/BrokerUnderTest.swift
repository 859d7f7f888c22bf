import GatewayKit
import Logging
import MQTT
import Mosquitto
import TestSupport
import Testing
import Vitals

/// The implementation and protocol version of a test case.
struct BrokerUnderTest: Sendable, CustomTestStringConvertible {
    enum Implementation: CaseIterable { case inMemory, mosquitto }
    var implementation: Implementation
    var version: MQTTVersion

    var testDescription: String { "\(implementation) \(version.rawValue)" }

    static let all = Implementation.allCases.flatMap { implementation in
        MQTTVersion.allCases.map { BrokerUnderTest(implementation: implementation, version: $0) }
    }
    static let v5 = all.filter { $0.version == .v5 }

    /// Runs `body` with a broker of this kind.
    func run(
        accessList: [String] = [], _ body: @Sendable (BrokerBench) async throws -> Void
    ) async throws {
        switch implementation {
        case .inMemory:
            let broker = InMemoryBroker(clock: .real)
            // The same rule as in the access list for mosquitto below.
            if !accessList.isEmpty { broker.forbid("forbidden") }
            try await body(BrokerBench(version: version, environment: .inMemory(broker)))
        case .mosquitto:
            try await withMosquitto(MosquittoOptions(accessList: accessList)) { server in
                try await body(BrokerBench(version: version, environment: .mosquitto(server)))
            }
        }
    }
}

/// A broker, with the actions available to a test.
struct BrokerBench: Sendable {
    enum Environment: Sendable {
        case inMemory(InMemoryBroker)
        case mosquitto(MosquittoServer)
    }
    var version: MQTTVersion
    var environment: Environment

    /// A client, with every option known to both implementations.
    func client(
        _ id: String, will: OutgoingMessage? = nil, window: Int = BrokerOptions.defaultWindow,
        maximumInbound: Int = BrokerOptions.defaultMaximumInbound,
        maximumInboundPayload: Int = BrokerOptions.defaultMaximumInboundPayload
    ) throws -> any Broker {
        switch environment {
        case .inMemory(let broker):
            return broker.client(
                InMemoryClientOptions(
                    id: id, version: version, will: will, window: window, maximumInbound: maximumInbound,
                    maximumInboundPayload: maximumInboundPayload))
        case .mosquitto(let server):
            return try MosquittoBroker(
                BrokerOptions(
                    servers: [server.server], clientID: id, version: version, will: will, window: window,
                    maximumInbound: maximumInbound, maximumInboundPayload: maximumInboundPayload),
                logger: Logger(label: "test"))
        }
    }

    /// Publishes from another client, and returns once the broker has the message.
    func publish(_ message: OutgoingMessage) async throws {
        switch environment {
        case .inMemory(let broker): broker.publish(message)
        case .mosquitto(let server): try await server.publish(message)
        }
    }

    /// Makes the broker stop answering.
    func hold() {
        switch environment {
        case .inMemory(let broker): broker.hold()
        case .mosquitto(let server): server.freeze()
        }
    }

    /// Lets the broker answer again.
    func release() {
        switch environment {
        case .inMemory(let broker): broker.release()
        case .mosquitto(let server): server.thaw()
        }
    }

    /// Breaks every connection.
    func cut() async throws {
        switch environment {
        case .inMemory(let broker): broker.cut()
        case .mosquitto(let server): try await server.kill()
        }
    }

    /// Makes the broker reachable again after `cut`.
    func comeBack() async throws {
        if case .mosquitto(let server) = environment { try await server.start() }
    }
}

extension GatewayClock {
    /// The machine's own clocks.
    static var real: GatewayClock {
        let start = ContinuousClock.now
        return GatewayClock(
            date: { Timestamp(milliseconds: 0) }, steady: ContinuousClock(), steadyNow: { ContinuousClock.now - start })
    }
}

extension BrokerConnection {
    /// Waits for events until all of them together fulfil `condition`, at most 20 s.
    func events(until condition: @escaping @Sendable (BrokerEvents) -> Bool) async throws -> BrokerEvents {
        try await withRealDeadline(.seconds(20)) {
            var all = BrokerEvents()
            while !condition(all) {
                let some = try await self.nextEvents()
                all.acknowledged += some.acknowledged
                all.refused += some.refused
                all.received += some.received
                all.droppedCount += some.droppedCount
            }
            return all
        } orThrow: {
            DeadlinePassed(limit: .seconds(20))
        }
    }

    /// Publishes and waits for the acknowledgement.
    func deliver(_ message: OutgoingMessage) async throws {
        try publish(message, as: MessageToken(rawValue: 1))
        let events = try await events { $0.acknowledged.count + $0.refused.count == 1 }
        #expect(events.acknowledged == [MessageToken(rawValue: 1)])
    }
}

extension OutgoingMessage {
    /// A message with a text.
    init(_ topic: String, _ text: String = "", qos: QualityOfService = .atLeastOnce, retain: Bool = false) {
        self.init(topic: topic, payload: Array(text.utf8), qos: qos, isRetained: retain)
    }
}

extension InboundMessage {
    /// The payload as text.
    var text: String { String(decoding: payload, as: UTF8.self) }
}

/// Runs `body` and returns the broker's error that it throws; any other outcome fails the test.
func brokerError(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> BrokerError? {
    do {
        try await body()
        Issue.record("No error was thrown.", sourceLocation: sourceLocation)
    } catch let error as BrokerError {
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}
