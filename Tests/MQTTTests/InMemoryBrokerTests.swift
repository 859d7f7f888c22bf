import GatewayKit
import GatewayTesting
import MQTT
import Synchronization
import TestSupport
import Testing
import Vitals

/// The abilities of the in-memory broker alone: faults on command, and repeatable ones.
@Suite(.timeLimit(.minutes(1))) struct InMemoryBrokerTests {
    private let token = MessageToken(rawValue: 1)

    @Test func `loses a message that it did not store, and keeps one that it did not acknowledge`() async throws {
        let broker = InMemoryBroker(clock: .real)
        for (faults, stored) in [
            (BrokerFaults(cutBeforeStoring: 1), 0), (BrokerFaults(cutBeforeAcknowledging: 1), 1),
        ] {
            broker.setFaults(faults)
            let error = await brokerError {
                try await broker.client(id: "a", will: OutgoingMessage("gone")).withConnection { connection in
                    // The call succeeds; the loss becomes known only later.
                    try connection.publish(OutgoingMessage("t"), as: token)
                    _ = try await connection.nextEvents()
                }
            }
            #expect(error?.code == .broken)
            #expect(broker.published.filter { $0.message.topic == "t" }.count == stored)
        }
        #expect(broker.published.filter(\.isWill).map(\.message.topic) == ["gone", "gone"])
        #expect(broker.connectedClients.isEmpty)
    }

    @Test func `delivers twice what it may deliver twice`() async throws {
        let broker = InMemoryBroker(clock: .real)
        broker.setFaults(BrokerFaults(duplicateDelivery: 1))
        try await broker.client(id: "a").withConnection { connection in
            try await connection.subscribe([Subscription("#")])
            broker.publish(OutgoingMessage("once", qos: .atMostOnce))
            broker.publish(OutgoingMessage("twice"))
            let events = try await connection.nextEvents()
            #expect(events.received.map(\.topic) == ["once", "twice", "twice"])
        }
    }

    @Test func `refuses connections as asked`() async throws {
        let broker = InMemoryBroker(clock: .real)
        broker.refuseConnections(BrokerError(.notAuthorized, "no"))
        let refused = await brokerError { try await broker.client(id: "a").withConnection { _ in } }
        #expect(refused?.code == .notAuthorized)
        broker.refuseConnections(nil)
        broker.setFaults(BrokerFaults(refuseConnection: 1))
        let unreachable = await brokerError { try await broker.client(id: "a").withConnection { _ in } }
        #expect(unreachable?.code == .unreachable)
        broker.setFaults(BrokerFaults())
        try await broker.client(id: "a").withConnection { _ in #expect(broker.connectedClients == ["a"]) }
        #expect(broker.connectionAttempts == 3)
    }

    @Test func `names the refused subscription`() async throws {
        let broker = InMemoryBroker(clock: .real)
        broker.forbidSubscription("secret/#")
        try await broker.client(id: "a").withConnection { connection in
            let error = await brokerError {
                try await connection.subscribe([Subscription("open"), Subscription("secret/#")])
            }
            #expect(error?.code == .subscriptionRefused)
            #expect(error?.message.contains("secret/#") == true)
        }
    }

    @Test func `acknowledgements that are held come after a release, and never after a cut`() async throws {
        let broker = InMemoryBroker(clock: .real)
        broker.hold()
        let error = await brokerError {
            try await broker.client(id: "a").withConnection { connection in
                try connection.publish(OutgoingMessage("t"), as: token)
                broker.release()
                #expect(try await connection.nextEvents().acknowledged == [token])
                broker.hold()
                try connection.publish(OutgoingMessage("t"), as: token)
                broker.cut("a")
                broker.release()
                _ = try await connection.nextEvents()
            }
        }
        #expect(error?.code == .broken)
        #expect(broker.published.count == 2)
    }

    @Test func `messages need time, in order, and are forgotten when they expire`() throws {
        try Simulation.run(seed: 1, deadline: .minutes(1)) { environment in
            let clock = environment.gatewayClock
            let broker = InMemoryBroker(clock: clock)
            broker.publish(OutgoingMessage(topic: "state", payload: [1], isRetained: true, expiry: .seconds(10)))
            try await broker.client(id: "a").withConnection { connection in
                try await connection.subscribe([Subscription("#")])
                #expect(try await connection.nextEvents().received.map(\.expiry) == [.seconds(10)])
                broker.setFaults(BrokerFaults(delay: .seconds(2) ... .seconds(2)))
                broker.publish(OutgoingMessage("slow"))
                broker.setFaults(BrokerFaults())
                broker.publish(OutgoingMessage("fast"))
                try await clock.sleep(for: .seconds(1))
                broker.publish(OutgoingMessage("last"))
                var topics: [String] = []
                while topics.count < 3 { topics += try await connection.nextEvents().received.map(\.topic) }
                #expect(topics == ["slow", "fast", "last"])
                #expect(environment.uptime == .seconds(2))
            }
            try await clock.sleep(for: .milliseconds(7_999))
            #expect(broker.retained().map(\.topic) == ["state"])
            try await clock.sleep(for: .milliseconds(1))
            #expect(broker.retained().isEmpty)
        }
    }

    @Test func `forgets a retained message when an empty one is published`() {
        let broker = InMemoryBroker(clock: .real)
        broker.publish(OutgoingMessage("b", "2", retain: true))
        broker.publish(OutgoingMessage("a", "1", retain: true))
        #expect(broker.retained("+").map(\.topic) == ["a", "b"])
        broker.publish(OutgoingMessage("a", "", retain: true))
        #expect(broker.retained().map(\.topic) == ["b"])
    }

    @Test func `the same seed gives the same run, faults and all`() throws {
        struct Run: Equatable {
            var texts: [String]
            var fingerprint: UInt64
        }
        func run(_ seed: UInt64) throws -> Run {
            try Simulation.run(seed: seed, deadline: .hours(1)) { environment in
                let broker = InMemoryBroker(clock: environment.gatewayClock, generator: environment.random())
                broker.setFaults(
                    BrokerFaults(
                        refuseConnection: 0.2, cutBeforeStoring: 0.05, cutBeforeAcknowledging: 0.05,
                        duplicateDelivery: 0.1, delay: .zero ... .seconds(1)))
                await withTaskGroup(of: Void.self) { group in
                    for client in ["a", "b"] {
                        group.addTask { await Self.publish(20, of: client, to: broker) }
                    }
                }
                return Run(texts: broker.published.map(\.text), fingerprint: environment.fingerprint)
            }
        }
        let (first, again, other) = (try run(1), try run(1), try run(2))
        #expect(first == again)
        #expect(first != other)
        // Everything arrived, some messages twice.
        for client in ["a", "b"] {
            #expect(Set(first.texts).isSuperset(of: (0..<20).map { "\(client)\($0)" }))
        }
        #expect(first.texts.count > 40)
    }

    /// Publishes messages one after another, repeating each until it is acknowledged.
    private static func publish(_ count: Int, of client: String, to broker: InMemoryBroker) async {
        let done = Mutex(0)
        while done.withLock({ $0 }) < count {
            try? await broker.client(id: client).withConnection { connection in
                while true {
                    let number = done.withLock { $0 }
                    guard number < count else { return }
                    try connection.publish(OutgoingMessage("t", "\(client)\(number)"), as: .unnamed)
                    while try await connection.nextEvents().acknowledged.isEmpty {}
                    done.withLock { $0 += 1 }
                }
            }
        }
    }

    @Test func `an observation records its topics, and lets a test wait`() async throws {
        let broker = InMemoryBroker(clock: .real)
        let observation = broker.observe("a/#")
        async let seen = observation.wait { $0.count == 2 }
        broker.publish(OutgoingMessage("b", "0"))
        broker.publish(OutgoingMessage("a", "1"))
        broker.publish(OutgoingMessage("a/b", "2"))
        let texts = try await seen.map(\.text)
        #expect(texts == ["1", "2"])
        #expect(broker.published.count == 3)
    }

    @Test(arguments: [
        ("a/b", "a/b", true), ("a/b", "a/c", false), ("a/b", "a", false), ("a", "a/b", false), ("+", "a", true),
        ("+", "a/b", false), ("+/+", "/a", true), ("a/+/c", "a/b/c", true), ("a/+/c", "a//c", true),
        ("a/+", "a", false), ("#", "a/b/c", true), ("a/#", "a", true), ("a/#", "a/b/c", true), ("a/#", "ab", false),
        ("#", "$SYS/x", false), ("+/x", "$SYS/x", false), ("$SYS/#", "$SYS/x", true), ("a/+/#", "a/b", true),
        ("a/+/#", "a", false),
    ])
    func `filters match by the rules of the protocol`(_ filter: String, _ topic: String, _ expected: Bool) {
        #expect(TopicFilter(filter).matches(topic) == expected)
    }
}
