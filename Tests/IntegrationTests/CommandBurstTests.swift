import GatewayTesting
import JSON
import Logging
import MQTT
import Mosquitto
import TestSupport
import Testing

/// Commands that come faster than they are taken.
@Suite(.timeLimit(.minutes(10)))
struct CommandBurstTests {
    private static let count = 10_000

    @Test func `each command of a burst gets exactly one final answer`() async throws {
        try await withBench { bench in
            try await bench.start([bench.execDevice("band", ["--page-size", "20"])], synced: "band")
            let broker = try MosquittoBroker(
                BrokerOptions(servers: [bench.server.server], clientID: "burst", window: 1_000),
                logger: Logger(label: "burst"))
            let tally = try await withTally(of: broker) { connection in
                try await connection.subscribe([Subscription("burst/answers")])
                return try await Self.run(on: connection)
            }
            #expect(tally.finals.count == Self.count)
            #expect(tally.finals.values.allSatisfy { $0 == 1 })
            // How many are refused depends on the machine; `CommandLogTests` shows a refusal.
            #expect(tally.statuses["done", default: 0] > 0)
            #expect(tally.codes.subtracting(["busy"]).isEmpty)
        }
    }

    private struct Tally: Sendable {
        /// The number of final answers by id.
        var finals: [String: Int] = [:]
        var statuses: [String: Int] = [:]
        var codes: Set<String> = []

        mutating func read(_ message: InboundMessage) {
            let status = message.json["status"]?.asString ?? ""
            guard status != "accepted", let id = message.json["id"]?.asString else { return }
            // The correlation data belongs to the command, too.
            #expect(message.correlationData.map { String(decoding: $0, as: UTF8.self) } == "c-\(id)")
            finals[id, default: 0] += 1
            statuses[status, default: 0] += 1
            if let code = message.json["code"]?.asString { codes.insert(code) }
        }
    }

    /// Publishes the burst as fast as the broker takes it, and reads answers until each command has one, and until one
    /// more command after all of them was answered.
    private static func run(on connection: any BrokerConnection) async throws -> Tally {
        var tally = Tally()
        var sent = 0
        var acknowledged = 0
        let last = "\(count)"
        while tally.finals[last] == nil {
            while sent < count, sent - acknowledged < connection.window { sent += try publish(sent, on: connection) }
            if sent == count, tally.finals.count >= count { sent += try publish(sent, on: connection) }
            let events = try await connection.nextEvents()
            acknowledged += events.acknowledged.count
            #expect(events.droppedCount == 0)
            for message in events.received { tally.read(message) }
        }
        tally.finals[last] = nil
        return tally
    }

    private static func publish(_ number: Int, on connection: any BrokerConnection) throws -> Int {
        let message = OutgoingMessage(
            topic: "\(Bench.base)/band/command/history",
            payload: Array("{\"id\":\"\(number)\",\"metric\":\"heart_rate\",\"limit\":1}".utf8),
            responseTopic: "burst/answers", correlationData: Array("c-\(number)".utf8))
        try connection.publish(message, as: MessageToken(rawValue: Int64(number)))
        return 1
    }

    private func withTally(
        of broker: MosquittoBroker, _ body: @escaping @Sendable (any BrokerConnection) async throws -> Tally
    ) async throws -> Tally {
        let result = Recorder<Tally>()
        try await withRealDeadline(.seconds(240)) {
            try await broker.withConnection { connection in result.append(try await body(connection)) }
        } orThrow: {
            DeadlinePassed(limit: .seconds(240))
        }
        return try #require(result.elements.first)
    }
}
