import GatewayKit
import GatewayTesting
import MQTT
import Synchronization
import Testing
import Vitals

/// What only the broker in memory can do: misbehave on command, and the same way again.
@Suite(.timeLimit(.minutes(1))) struct InMemoryBrokerTests {
    private let token = MessageToken(rawValue: 1)

    /// A small generator whose numbers follow from its seed.
    private struct Seeded: RandomNumberGenerator, Sendable {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 31)
        }
    }

    @Test func `loses a message that it did not store, and keeps one that it did not acknowledge`() async throws {
        let broker = InMemoryBroker(clock: .real)
        for (faults, stored) in [
            (BrokerFaults(cutBeforeStoring: 1), 0), (BrokerFaults(cutBeforeAcknowledging: 1), 1),
        ] {
            broker.setFaults(faults)
            let error = await brokerError {
                try await broker.client(id: "a", will: OutboundMessage("gone")).withConnection { connection in
                    // It was handed over; that it is lost is known only later.
                    try connection.publish(OutboundMessage("t"), as: token)
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
            broker.publish(OutboundMessage("once", qos: .atMostOnce))
            broker.publish(OutboundMessage("twice"))
            let events = try await connection.nextEvents()
            #expect(events.received.map(\.topic) == ["once", "twice", "twice"])
        }
    }

    @Test func `refuses connections as told`() async throws {
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
                try connection.publish(OutboundMessage("t"), as: token)
                broker.release()
                #expect(try await connection.nextEvents().acknowledged == [token])
                broker.hold()
                try connection.publish(OutboundMessage("t"), as: token)
                broker.cut("a")
                broker.release()
                _ = try await connection.nextEvents()
            }
        }
        #expect(error?.code == .broken)
        #expect(broker.published.count == 2)
    }

    @Test func `messages need time, in order, and are forgotten when they expire`() async throws {
        let time = ManualTime()
        let broker = InMemoryBroker(clock: time.clock)
        broker.publish(OutboundMessage(topic: "state", payload: [1], isRetained: true, expiry: .seconds(10)))
        try await broker.client(id: "a").withConnection { connection in
            try await connection.subscribe([Subscription("#")])
            _ = try await connection.nextEvents()
            broker.setFaults(BrokerFaults(delay: .seconds(2) ... .seconds(2)))
            broker.publish(OutboundMessage("slow"))
            broker.setFaults(BrokerFaults())
            broker.publish(OutboundMessage("fast"))
            await time.sleeper()
            time.advance(by: .seconds(1))
            broker.publish(OutboundMessage("last"))
            time.advance(by: .seconds(1))
            let events = try await connection.events { $0.received.count == 3 }
            #expect(events.received.map(\.topic) == ["slow", "fast", "last"])
        }
        time.advance(by: .milliseconds(7_999))
        #expect(broker.retained().map(\.topic) == ["state"])
        time.advance(by: .milliseconds(1))
        #expect(broker.retained().isEmpty)
    }

    @Test func `forgets a retained message when an empty one is published`() {
        let broker = InMemoryBroker(clock: .real)
        broker.publish(OutboundMessage("b", "2", retain: true))
        broker.publish(OutboundMessage("a", "1", retain: true))
        #expect(broker.retained("+").map(\.topic) == ["a", "b"])
        broker.publish(OutboundMessage("a", "", retain: true))
        #expect(broker.retained().map(\.topic) == ["b"])
    }

    @Test func `the same numbers give the same faults`() async {
        func run(_ seed: UInt64) async -> [String] {
            let broker = InMemoryBroker(clock: .real, generator: Seeded(state: seed))
            broker.setFaults(
                BrokerFaults(refuseConnection: 0.2, cutBeforeStoring: 0.1, cutBeforeAcknowledging: 0.1))
            for attempt in 0..<50 {
                try? await broker.client(id: "a").withConnection { connection in
                    for number in 0..<10 { try connection.publish(OutboundMessage("t", "\(attempt).\(number)")) }
                }
            }
            return broker.published.map(\.text)
        }
        let (first, again, other) = (await run(1), await run(1), await run(2))
        #expect(first == again)
        #expect(first != other)
        #expect(first.count > 50 && first.count < 500)
    }

    @Test func `an observation records its topics, and lets a test wait`() async throws {
        let broker = InMemoryBroker(clock: .real)
        let observation = broker.observe("a/#")
        async let seen = observation.wait { $0.count == 2 }
        broker.publish(OutboundMessage("b", "0"))
        broker.publish(OutboundMessage("a", "1"))
        broker.publish(OutboundMessage("a/b", "2"))
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

/// A time that passes when a test says so.
private final class ManualTime: Sendable {
    private struct Sleeper {
        var id: Int
        var end: Duration
        var continuation: CheckedContinuation<Void, Never>
    }
    private struct State {
        var now = Duration.zero
        var nextID = 0
        var sleepers: [Sleeper] = []
    }
    private let state = Mutex(State())
    private let asleep = Recorder<Duration>()

    var clock: GatewayClock {
        GatewayClock(
            date: { Timestamp(milliseconds: 0) }, steady: ManualClock(time: self),
            steadyNow: { self.state.withLock { $0.now } })
    }

    /// Returns when someone has begun to sleep.
    func sleeper() async { _ = try? await asleep.wait { !$0.isEmpty } }

    func advance(by duration: Duration) {
        state.withLock { state in
            state.now += duration
            for sleeper in state.sleepers where sleeper.end <= state.now { sleeper.continuation.resume() }
            state.sleepers.removeAll { [now = state.now] in $0.end <= now }
        }
    }

    private func sleep(until end: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if Task.isCancelled || end <= state.now {
                        continuation.resume()
                    } else {
                        state.sleepers.append(Sleeper(id: id, end: end, continuation: continuation))
                        asleep.append(end)
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return }
                state.sleepers.remove(at: index).continuation.resume()
            }
        }
        try Task.checkCancellation()
    }

    private struct ManualClock: Clock {
        struct Instant: InstantProtocol {
            var offset: Duration
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
        }
        var time: ManualTime
        var now: Instant { Instant(offset: time.state.withLock { $0.now }) }
        var minimumResolution: Duration { .nanoseconds(1) }
        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await time.sleep(until: deadline.offset)
        }
    }
}
