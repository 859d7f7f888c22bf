import Concurrency
import Contract
import GatewayKit
import JSON
import Logging
import MQTT
import Mosquitto
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// A real broker that does not take everything.
@Suite(.timeLimit(.minutes(5))) struct BrokerLimitTests {
    /// A limit of the broker, in its own words, and the version of MQTT that the gateway speaks.
    struct Limit: Sendable, CustomTestStringConvertible {
        var line: String
        var version: MQTTVersion
        var testDescription: String { "\(line), MQTT \(version.rawValue)" }
    }

    /// Delivers what is in a store to a real broker.
    private struct Rig: Sendable {
        let server: MosquittoServer
        let scratch: ScratchStore
        let outbox = Outbox()
        let retained: RetainedStates
        let log = LogRecorder()
        let settings: DeliverySettings
        let loop: BrokerLoop

        init(_ server: MosquittoServer, _ version: MQTTVersion) throws {
            self.server = server
            let outbox = outbox
            scratch = try ScratchStore { outbox.committed($0) }
            retained = RetainedStates(beside: outbox)
            let gateway = try #require(DeviceID("home"))
            settings = DeliverySettings(
                topics: ContractTopics(gateway: gateway), calendar: try #require(LocalCalendar(identifier: "UTC")),
                clock: .system, logger: log.logger)
            let broker = try MosquittoBroker(
                BrokerOptions(servers: [server.server], clientID: "gateway", version: version), logger: settings.logger)
            loop = BrokerLoop(
                broker: broker, store: scratch.base, outbox: outbox, retained: retained,
                codec: ContractCodec(settings: settings, discovery: .off), status: BrokerStatus(), settings: settings,
                inbox: { _ in }, room: {}, connected: {})
        }

        /// Commits samples as one fact.
        func commit(_ samples: [Sample], in lane: Lane = .history) async throws {
            let device = Fixture.device
            let ingest = Ingest(device: device, samples: samples, receivedAt: Fixture.noon) { outcomes in
                var decision = IngestOutcome()
                let measurement = Fact.Measurement(
                    metric: outcomes[0].stored.sample.metric, source: .sync, isHistorical: true, user: nil,
                    samples: outcomes.map(\.stored))
                decision.facts = [(lane, .measurement(measurement))]
                return decision
            }
            _ = try await scratch.base.ingest(ingest)
        }

        /// Delivers during `body`.
        func deliver(_ body: () async throws -> Void) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await loop.run(generator: SplitMix64(seed: 1)) }
                defer { group.cancelAll() }
                do { try await body() } catch {
                    Issue.record("\(log.entries.suffix(3))\n\(server.log.suffix(20))")
                    throw error
                }
            }
        }
    }

    private static let device = "vitals2mqtt/home/\(Fixture.device.text)"

    private static func beats(_ range: Range<Int>) -> [Sample] {
        range.map { Sample(metric: .heartRate, start: Fixture.noon - .minutes($0), reading: .value(60)) }
    }

    /// A night with a stage a minute: about 90 bytes each.
    private static func night(_ stages: Int) -> Sample {
        let start = Fixture.noon - .days(1)
        return Sample(
            metric: .sleep, start: start, end: start + .minutes(stages),
            reading: .sleep(
                Sleep(
                    stages: (0..<stages).map {
                        Sleep.Stage(.light, from: start + .minutes($0), to: start + .minutes($0 + 1))
                    })))
    }

    private static func ids(_ messages: [InboundMessage]) -> Set<String> {
        Set(messages.flatMap { json($0)["samples"]?.asArray ?? [] }.compactMap { $0["id"]?.asString })
    }

    private static func json(_ message: InboundMessage) -> JSONValue {
        (try? JSONValue(parsing: message.payload)) ?? .null
    }

    @Test(arguments: [
        Limit(line: "max_packet_size 9000", version: .v5), Limit(line: "max_packet_size 9000", version: .v311),
        Limit(line: "message_size_limit 9000", version: .v5),
    ])
    func `a broker that takes small packets gets all samples, and the one that is too large is quarantined`(
        limit: Limit
    ) async throws {
        try await withMosquitto(MosquittoOptions(lines: [limit.line])) { server in
            try await server.withSubscriber { subscriber in
                let rig = try Rig(server, limit.version)
                try await rig.commit(Self.beats(0..<200))
                try await rig.commit([Self.night(300)])
                try await rig.commit(Self.beats(200..<400))
                try await rig.commit(Self.beats(400..<401), in: .live)
                try await rig.deliver {
                    let messages = try await subscriber.wait(deadline: .seconds(120)) { messages in
                        Self.ids(messages.filter { $0.topic == "\(Self.device)/measurement/heart_rate" }).count == 401
                            && messages.contains { $0.topic == "\(Self.device)/event/gap" }
                    }
                    let gap = try #require(messages.first { $0.topic == "\(Self.device)/event/gap" }.map(Self.json))
                    #expect(gap["reason"] == "refused")
                    #expect(gap["metric"] == "sleep")
                    #expect(gap["count"]?.asInt == 1)
                    #expect(gap["sequences"]?.asArray?.first?["from_seq"]?.asInt == 2)
                    let last = messages.last {
                        $0.topic.hasSuffix("/heart_rate") && Self.json($0)["seq"]?.asInt == 3
                    }.map(Self.json)
                    #expect((last?["parts"]?.asInt ?? 0) > 1)
                    #expect(last?["part"] == last?["parts"])
                    #expect(messages.allSatisfy { $0.payload.count <= 9_000 })
                    // A broker passes a message on before it acknowledges it. The limit of the suite ends this.
                    while try await rig.scratch.base.statistics().pending.values.contains(where: { $0 > 0 }) {
                        await Task.yield()
                    }
                }
                let statistics = try await rig.scratch.base.statistics()
                #expect(statistics.quarantined == 1)
                #expect(statistics.pending.values.reduce(0, +) == 0)
                #expect(try await rig.scratch.base.facts(2...2, limit: 9).map(\.sequence) == [2])
            }
        }
    }

    @Test func `a fact on a topic that may not be written is quarantined, and sent again when it may`() async throws {
        let rules = ["topic readwrite #", "topic deny \(Self.device)/measurement/sleep"]
        try await withMosquitto(MosquittoOptions(accessList: rules)) { server in
            try await server.withSubscriber { subscriber in
                let rig = try Rig(server, .v5)
                try await rig.commit([Self.night(3)])
                try await rig.commit(Self.beats(0..<3))
                try await rig.deliver {
                    try await subscriber.wait(deadline: .seconds(60)) { messages in
                        Self.ids(messages).count == 3 && messages.contains { $0.topic.hasSuffix("/event/gap") }
                    }
                    #expect(try await rig.scratch.base.statistics().quarantined == 1)
                }
                try await server.allow(["topic readwrite #"])
                try await rig.deliver {
                    // The first delivery's connection does not count any more.
                    while !rig.retained.isConnected { await Task.yield() }
                    let answer = await Replay(store: rig.scratch.base, retained: rig.retained).run(1...1)
                    #expect(answer.data == .replayed(1))
                    try await subscriber.wait(deadline: .seconds(60)) { Self.ids($0).count == 4 }
                    try await withRealDeadline(.seconds(20)) {
                        while try await rig.scratch.base.statistics().quarantined > 0 { await Task.yield() }
                    } orThrow: {
                        DeadlinePassed(limit: .seconds(20))
                    }
                }
            }
        }
    }
}
