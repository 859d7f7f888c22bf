import GatewayTesting
import MQTT
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
    private struct Failure: Error, Equatable {}
    private let will = OutgoingMessage("status", "gone", retain: true)

    @Test(arguments: BrokerUnderTest.all)
    func `publishes the will when the client fails, and not after a graceful disconnect`(
        _ kind: BrokerUnderTest
    ) async throws {
        let will = will
        try await kind.run { bench in
            try await bench.client("observer").withConnection { observer in
                try await observer.subscribe([Subscription("#")])
                try await bench.client("a", will: will).withConnection { connection in
                    try await connection.deliver(OutgoingMessage("status", "clean"))
                }
                await #expect(throws: Failure.self) {
                    try await bench.client("a", will: will).withConnection { connection in
                        try await connection.deliver(OutgoingMessage("status", "failing"))
                        throw Failure()
                    }
                }
                let events = try await observer.events { events in events.received.contains { $0.text == "gone" } }
                #expect(events.received.map(\.text) == ["clean", "failing", "gone"])
            }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `reports the end of the connection, and opens a new one`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            let client = try bench.client("a")
            let error = await brokerError {
                try await client.withConnection { connection in
                    try await connection.deliver(OutgoingMessage("t"))
                    try await bench.cut()
                    let first = await brokerError { _ = try await connection.events { _ in false } }
                    #expect(first?.code == .broken)
                    // Every later call and every other operation fails in the same way.
                    let next = await brokerError { _ = try await connection.nextEvents() }
                    let publish = await brokerError { try connection.publish(OutgoingMessage("t")) }
                    let subscribe = await brokerError { try await connection.subscribe([Subscription("t")]) }
                    #expect([next, publish, subscribe] == [first, first, first])
                    _ = try await connection.nextEvents()
                }
            }
            #expect(error?.code == .broken)
            try await bench.comeBack()
            try await client.withConnection { try await $0.deliver(OutgoingMessage("t")) }
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `hands out what came before the end`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            let error = await brokerError {
                try await bench.client("a").withConnection { connection in
                    try await connection.subscribe([Subscription("t", qos: .atMostOnce)])
                    try connection.publish(OutgoingMessage("t", "last", qos: .atMostOnce))
                    try await connection.subscribe([Subscription("marker")])
                    try await bench.cut()
                    let events = try await connection.nextEvents()
                    #expect(events.received.map(\.text) == ["last"])
                    _ = try await connection.nextEvents()
                }
            }
            #expect(error?.code == .broken)
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `ends the older one of two connections with the same name`(_ kind: BrokerUnderTest) async throws {
        try await kind.run { bench in
            let error = await brokerError {
                try await bench.client("twin").withConnection { older in
                    try await bench.client("twin").withConnection { newer in
                        let error = await brokerError { _ = try await older.events { _ in false } }
                        #expect(error?.code == .broken)
                        try await newer.deliver(OutgoingMessage("t"))
                    }
                    _ = try await older.nextEvents()
                }
            }
            #expect(error?.code == .broken)
        }
    }

    @Test(arguments: BrokerUnderTest.all)
    func `a cancelled task leaves at once, and the will is published`(_ kind: BrokerUnderTest) async throws {
        let will = will
        try await kind.run { bench in
            try await bench.client("observer").withConnection { observer in
                try await observer.subscribe([Subscription("#")])
                let outcome = Recorder<BrokerError.Code>()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        do {
                            try await bench.client("a", will: will).withConnection { connection in
                                try await connection.deliver(OutgoingMessage("ready"))
                                _ = try await connection.nextEvents()
                            }
                        } catch let error as BrokerError {
                            outcome.append(error.code)
                        }
                    }
                    _ = try await observer.events { events in events.received.contains { $0.topic == "ready" } }
                    group.cancelAll()
                }
                #expect(outcome.elements == [.cancelled])
                let events = try await observer.events { !$0.received.isEmpty }
                #expect(events.received.map(\.text) == ["gone"])
            }
        }
    }
}
