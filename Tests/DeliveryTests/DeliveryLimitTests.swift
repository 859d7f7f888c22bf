import Concurrency
import Contract
import GatewayKit
import GatewayTesting
import JSON
import Logging
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// Checks the limits of what is held for the broker and for the senders of commands.
@Suite struct DeliveryLimitTests {
    private static let noon = Timestamp(milliseconds: 1_795_219_200_000)

    private static func settings() throws -> DeliverySettings {
        let gateway = try #require(DeviceID("home"))
        return DeliverySettings(
            topics: ContractTopics(gateway: gateway),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test(arguments: [(Duration.hours(1), "event/alert"), (.hours(1) + .milliseconds(1), "event/history")])
    func `an alert that could not be sent for an hour goes to the history`(age: Duration, topic: String) throws {
        let settings = try Self.settings()
        var encoder = ContractEncoder(topics: settings.topics, calendar: settings.calendar)
        let event = AlertEvent(
            id: SampleID(high: 1, low: 2), raisedID: nil, rule: AlertRule(.stress, .high), edge: .raised, value: 90,
            limit: 80, origin: .gateway, measuredAt: Self.noon, raisedAt: Self.noon, sampleID: nil)
        let fact = Fact(
            sequence: 7, lane: .alert, device: try #require(DeviceID("band")), content: .alert(event, isLate: false))
        let message = ContractCodec.encode(
            fact, info: nil, publishedAt: Self.noon + age, isReplay: false, with: &encoder)
        #expect(message.topic == "vitals2mqtt/home/band/\(topic)")
    }

    @Test func `five hundred messages that are sent once wait, and there is no room for more until half have gone`() {
        let retained = RetainedStates(wakeup: Signal())
        let message = RetainedStates.Entry.message(.answer(topic: "me", payload: [1], correlation: nil))
        #expect(!retained.putOnce(message), "there is no connection")
        retained.connect()
        for _ in 0..<RetainedStates.maximumOnce { #expect(retained.putOnce(message)) }
        #expect(!retained.putOnce(message))
        #expect(retained.next() != nil)
        #expect(retained.putOnce(message))
        #expect(!retained.putOnce(message))
    }

    @Test func `an answer that the store did not take is given again, and the command does not run again`() async throws
    {
        let settings = try Self.settings()
        let wakeup = Signal()
        let retained = RetainedStates(wakeup: wakeup)
        retained.connect()
        let scratch = try ScratchStore()
        let store = scratch.store
        scratch.fail { $0 == .complete ? StoreError(.full, "The disk is full.") : nil }
        let log = CommandLog(
            store: store, retained: retained,
            codec: ContractCodec(settings: settings, discovery: .off), settings: settings,
            generator: SplitMix64(seed: 1)
        )
        let device = try #require(DeviceID("band"))
        func command(_ number: Int) -> CommandEnvelope {
            CommandEnvelope(id: "\(number)", device: device, command: "measure")
        }
        for number in 0...CommandLog.maximumUnstored {
            let key = try #require(await log.begin(command(number)))
            await log.complete(key, Answer(.done))
            #expect(retained.next() != nil)
        }
        #expect(await log.begin(command(1)) == nil)
        guard case .message(let again)? = retained.next() else {
            Issue.record("no answer")
            return
        }
        #expect(try JSONValue(parsing: again.payload)["status"] == "done")
        #expect(try JSONValue(parsing: again.payload)["id"] == "1")
        #expect(await log.begin(command(0)) != nil, "the oldest of too many is forgotten")
    }

    @Test func `an answer that the store did not take is stored once there is room, and a crash later changes nothing`()
        async throws
    {
        let settings = try Self.settings()
        let scratch = try ScratchStore()
        func log() -> CommandLog {
            CommandLog(
                store: scratch.store, retained: RetainedStates(wakeup: Signal()),
                codec: ContractCodec(settings: settings, discovery: .off), settings: settings,
                generator: SplitMix64(seed: 1))
        }
        let device = try #require(DeviceID("band"))
        let first = log()
        scratch.fail { $0 == .complete ? StoreError(.full, "The disk is full.") : nil }
        let key = try #require(await first.begin(CommandEnvelope(id: "c", device: device, command: "sync")))
        await first.complete(key, Answer(.done))
        await first.storeUnstored()
        #expect(try await scratch.base.pending(.answer, after: 0, limit: 9).isEmpty)
        scratch.fail { _ in nil }
        await first.storeUnstored()
        await first.storeUnstored()
        await log().answerForgotten()
        let answers = try await scratch.base.pending(.answer, after: 0, limit: 9).compactMap(\.answer)
        #expect(try answers.map { try JSONValue(parsing: $0.payload)["status"]?.asString } == ["done"])
    }

    @Test func `whoever sends a command again while it runs is answered after a crash, too, and only so many wait`()
        async throws
    {
        let settings = try Self.settings()
        let wakeup = Signal()
        let scratch = try ScratchStore()
        let store = scratch.base
        func log(_ seed: UInt64) -> CommandLog {
            CommandLog(
                store: store, retained: RetainedStates(wakeup: wakeup),
                codec: ContractCodec(settings: settings, discovery: .off), settings: settings,
                generator: SplitMix64(seed: seed))
        }
        let device = try #require(DeviceID("band"))
        func command(_ topic: String) -> CommandEnvelope {
            CommandEnvelope(id: "c", device: device, command: "sync", responseTopic: topic)
        }
        let before = log(1)
        #expect(await before.begin(command("first")) == "id:c")
        for number in 0..<CommandLog.maximumRepeats { #expect(await before.begin(command("\(number)")) == nil) }
        #expect(try await store.pending(.answer, after: 0, limit: 9).isEmpty)
        #expect(await before.begin(command("more")) == nil)
        let busy = try await store.pending(.answer, after: 0, limit: 9)
        #expect(busy.map(\.answer?.topic) == ["more"])
        #expect(try JSONValue(parsing: try #require(busy.first?.answer).payload)["code"] == "busy")

        // The process ends here; the next one finds the waiting senders.
        await log(2).answerForgotten()
        let answers = try await store.pending(.answer, after: 1, limit: 2_000).compactMap(\.answer)
        #expect(Set(answers.map(\.topic)) == Set(["first"] + (0..<CommandLog.maximumRepeats).map { "\($0)" }))
        #expect(answers.count == CommandLog.maximumRepeats + 1)
        for answer in answers { #expect(try JSONValue(parsing: answer.payload)["code"] == "timeout") }
    }

    @Test func `four thousand commands run at once, and one more is busy`() async throws {
        let settings = try Self.settings()
        let wakeup = Signal()
        let scratch = try ScratchStore()
        let store = scratch.base
        let log = CommandLog(
            store: store, retained: RetainedStates(wakeup: wakeup),
            codec: ContractCodec(settings: settings, discovery: .off), settings: settings,
            generator: SplitMix64(seed: 1)
        )
        let device = try #require(DeviceID("band"))
        for number in 0..<CommandLog.maximumRunning {
            let envelope = CommandEnvelope(id: "\(number)", device: device, command: "sync")
            #expect(await log.begin(envelope) == "id:\(number)")
        }
        #expect(await log.begin(CommandEnvelope(id: "more", device: device, command: "sync")) == nil)
        let answers = try await store.pending(.answer, after: 0, limit: 9)
        let answer = try JSONValue(parsing: try #require(answers.first?.answer).payload)
        #expect(answers.count == 1)
        #expect(answer["id"] == "more")
        #expect(answer["status"] == "rejected")
        #expect(answer["code"] == "busy")

        // An answer makes room; and the same command does not begin twice.
        await log.complete("id:0", Answer(.done))
        #expect(await log.begin(CommandEnvelope(id: "1", device: device, command: "sync")) == nil)
        #expect(await log.begin(CommandEnvelope(id: "more", device: device, command: "sync")) == "id:more")
    }
}
