import Concurrency
import Contract
import GatewayKit
import GatewayTesting
import JSON
import Logging
import MQTT
import Store
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// Checks that each command runs once and has one answer, however often it is delivered.
@Suite struct CommandLogTests {
    @Test func `a command that comes again while its answer is written down does not run again`() async throws {
        let gateway = try #require(DeviceID("home"))
        let settings = DeliverySettings(
            topics: ContractTopics(gateway: gateway),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let wakeup = Signal()
        let (isWriting, mayWrite) = (Promise<Void>(), Promise<Void>())
        let scratch = try ScratchStore()
        let store = scratch.base
        let slow = FaultyStore(store) { call, _ in
            guard call == .complete, isWriting.value == nil else { return nil }
            return .delay {
                isWriting.fulfil(())
                _ = try? await mayWrite.wait()
            }
        }
        let log = CommandLog(
            store: slow, retained: RetainedStates(wakeup: wakeup),
            codec: ContractCodec(settings: settings, discovery: .off), settings: settings,
            generator: SplitMix64(seed: 1)
        )
        let envelope = CommandEnvelope(id: "1", device: DeviceID("band"), command: "measure")
        let key = try #require(await log.begin(envelope))
        async let finished: Void = log.complete(key, Answer(.done))
        try await isWriting.wait()
        #expect(await log.begin(envelope) == nil)
        mayWrite.fulfil(())
        await finished
        #expect(await log.begin(envelope) == nil)
        let answers = try await store.pending(.answer, after: 0, limit: 9)
        #expect(answers.count == 3)
        for answer in answers.compactMap(\.answer) {
            #expect(try JSONValue(parsing: answer.payload)["status"] == "done")
        }
    }

    @Test func `an answer that cannot be stored is sent, and counted where no broker can take it`() async throws {
        let settings = DeliverySettings(
            topics: ContractTopics(gateway: try #require(DeviceID("home"))),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let scratch = try ScratchStore()
        let full = FaultyStore(scratch.base) { call, _ in
            call == .complete ? .failure(StoreError(.full, "The disk is full.")) : nil
        }
        let (retained, status) = (RetainedStates(wakeup: Signal()), BrokerStatus())
        let log = CommandLog(
            store: full, retained: retained, codec: ContractCodec(settings: settings, discovery: .off),
            settings: settings, status: status, generator: SplitMix64(seed: 1))
        retained.connect()
        let first = CommandEnvelope(id: "1", device: DeviceID("band"), command: "measure")
        await log.complete(try #require(await log.begin(first)), Answer(.done))
        guard case .message(let sent) = retained.next() else {
            Issue.record("nothing is sent")
            return
        }
        #expect(try JSONValue(parsing: sent.payload)["status"] == "done")
        #expect(status.snapshot.dropped == 0)
        // The command is known: it does not run again.
        #expect(await log.begin(first) == nil)

        retained.disconnect()
        let second = CommandEnvelope(id: "2", device: DeviceID("band"), command: "measure")
        await log.complete(try #require(await log.begin(second)), Answer(.done))
        #expect(status.snapshot.dropped == 1)
    }

    @Test func `a command is refused, and does not run, while too many answers wait for the broker`() async throws {
        let settings = DeliverySettings(
            topics: ContractTopics(gateway: try #require(DeviceID("home"))),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var options = StoreOptions()
        options.maximumAnswers = 2
        let scratch = try ScratchStore(options: options)
        let retained = RetainedStates(wakeup: Signal())
        retained.connect()
        let log = CommandLog(
            store: scratch.base, retained: retained, codec: ContractCodec(settings: settings, discovery: .off),
            settings: settings, generator: SplitMix64(seed: 1))
        func envelope(_ id: String) -> CommandEnvelope {
            CommandEnvelope(id: id, device: DeviceID("band"), command: "measure")
        }
        let runs = try #require(await log.begin(envelope("runs")))
        for id in ["1", "2"] {
            let key = try #require(await log.begin(envelope(id)))
            await log.complete(key, Answer(.done))
        }
        #expect(await log.begin(envelope("3")) == nil)
        guard case .message(let busy)? = retained.next() else {
            Issue.record("no answer")
            return
        }
        let answer = try JSONValue(parsing: busy.payload)
        #expect(answer["status"] == "rejected")
        #expect(answer["code"] == "busy")
        #expect(answer["id"] == "3")
        // What has begun is answered and kept; nothing is dropped.
        await log.complete(runs, Answer(.done))
        #expect(try await scratch.base.pending(.answer, after: 0, limit: 9).count == 3)
        // The id was not used up: once the broker has taken some, the command runs.
        try await scratch.base.acknowledge(.answer, through: 2)
        #expect(await log.begin(envelope("3")) != nil)
    }

    @Test func `a repeat that meets a full queue gets the answer of the command that runs`() async throws {
        let settings = DeliverySettings(
            topics: ContractTopics(gateway: try #require(DeviceID("home"))),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let scratch = try ScratchStore()
        let log = CommandLog(
            store: scratch.base, retained: RetainedStates(wakeup: Signal()),
            codec: ContractCodec(settings: settings, discovery: .off), settings: settings,
            generator: SplitMix64(seed: 1))
        let envelope = CommandEnvelope(id: "1", device: DeviceID("band"), command: "measure")
        let key = try #require(await log.begin(envelope))
        await log.reject(Answer(.rejected, code: .busy, message: "full"), envelope)
        #expect(try await scratch.base.pending(.answer, after: 0, limit: 9).isEmpty)
        await log.complete(key, Answer(.done))
        // A command that does not run is refused, and its id stays free.
        let other = CommandEnvelope(id: "2", device: DeviceID("band"), command: "measure")
        await log.reject(Answer(.rejected, code: .busy, message: "full"), other)
        let answers = try await scratch.base.pending(.answer, after: 0, limit: 9).compactMap(\.answer)
        let reported = try answers.map { try JSONValue(parsing: $0.payload) }
        #expect(reported.map { $0["id"]?.asString } == ["1", "1", "2"])
        #expect(reported.map { $0["status"]?.asString } == ["done", "done", "rejected"])
        #expect(await log.begin(other) != nil)
    }
}
