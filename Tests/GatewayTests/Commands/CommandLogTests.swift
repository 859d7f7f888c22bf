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
@testable import Gateway

/// Checks that each command runs once and has one answer, however often it is delivered.
@Suite struct CommandLogTests {
    private static func log(
        _ store: any CommandStore, retained: RetainedStates = RetainedStates(wakeup: Signal()),
        status: BrokerStatus = BrokerStatus(), seed: UInt64 = 1
    ) throws -> CommandLog {
        let settings = DeliverySettings(
            topics: ContractTopics(gateway: try #require(DeviceID("home"))),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return CommandLog(
            store: store, retained: retained, settings: settings, status: status, generator: SplitMix64(seed: seed))
    }

    @Test func `a command that comes again while its answer is written down does not run again`() async throws {
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
        let log = try Self.log(slow)
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

    @Test func `what is named by its content runs once for each content, with one id and an answer each`() async throws
    {
        let scratch = try ScratchStore()
        let log = try Self.log(scratch.base)
        func envelope(_ person: String) -> CommandEnvelope {
            var envelope = CommandEnvelope(
                id: "edge", content: SampleID(name: person), device: DeviceID("band"), command: "acknowledge")
            envelope.isNamedByContent = true
            return envelope
        }
        let anna = try #require(await log.begin(envelope("anna")))
        let ben = try #require(await log.begin(envelope("ben")))
        #expect(anna != ben)
        await log.complete(anna, Answer(.done))
        await log.complete(ben, Answer(.done, message: "anna was first"))
        #expect(await log.begin(envelope("anna")) == nil)
        let answers = try await scratch.base.pending(.answer, after: 0, limit: 9).compactMap(\.answer)
        let messages = try answers.map { try JSONValue(parsing: $0.payload)["message"]?.asString }
        #expect(messages == [nil, "anna was first", nil])
    }

    @Test func `an answer that cannot be stored is sent, and counted where no broker can take it`() async throws {
        let scratch = try ScratchStore()
        let full = FaultyStore(scratch.base) { call, _ in
            call == .complete ? .failure(StoreError(.full, "The disk is full.")) : nil
        }
        let (retained, status) = (RetainedStates(wakeup: Signal()), BrokerStatus())
        let log = try Self.log(full, retained: retained, status: status)
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
        var options = StoreOptions()
        options.maximumAnswers = 2
        let scratch = try ScratchStore(options: options)
        let retained = RetainedStates(wakeup: Signal())
        retained.connect()
        let log = try Self.log(scratch.base, retained: retained)
        // One device alone may not fill all places.
        func envelope(_ id: String) -> CommandEnvelope {
            CommandEnvelope(id: id, device: DeviceID("band-\(id)"), command: "measure")
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
        let scratch = try ScratchStore()
        let log = try Self.log(scratch.base)
        let envelope = CommandEnvelope(
            id: "1", content: SampleID(name: "{}"), device: DeviceID("band"), command: "measure")
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

    @Test func `an answer that the store did not take is given again, and the command does not run again`() async throws
    {
        let retained = RetainedStates(wakeup: Signal())
        retained.connect()
        let scratch = try ScratchStore()
        let store = scratch.store
        scratch.fail { $0 == .complete ? StoreError(.full, "The disk is full.") : nil }
        let log = try Self.log(store, retained: retained)
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
        let scratch = try ScratchStore()
        let device = try #require(DeviceID("band"))
        let first = try Self.log(scratch.store)
        scratch.fail { $0 == .complete ? StoreError(.full, "The disk is full.") : nil }
        let key = try #require(await first.begin(CommandEnvelope(id: "c", device: device, command: "sync")))
        await first.complete(key, Answer(.done))
        await first.storeUnstored()
        #expect(try await scratch.base.pending(.answer, after: 0, limit: 9).isEmpty)
        scratch.fail { _ in nil }
        await first.storeUnstored()
        await first.storeUnstored()
        try await Self.log(scratch.store).answerForgotten()
        let answers = try await scratch.base.pending(.answer, after: 0, limit: 9).compactMap(\.answer)
        #expect(try answers.map { try JSONValue(parsing: $0.payload)["status"]?.asString } == ["done"])
    }

    @Test func `whoever sends a command again while it runs is answered after a crash, too, and only so many wait`()
        async throws
    {
        let scratch = try ScratchStore()
        let store = scratch.base
        let device = try #require(DeviceID("band"))
        func command(_ topic: String, of other: DeviceID? = nil) -> CommandEnvelope {
            CommandEnvelope(id: "c", device: other ?? device, command: "sync", responseTopic: topic)
        }
        let before = try Self.log(store)
        #expect(await before.begin(command("first")) == "band sync c")
        // One device takes no more than it leaves to others.
        let share = CommandLog.maximumRepeats / 2
        for number in 0..<share { #expect(await before.begin(command("\(number)")) == nil) }
        let other = DeviceID("ring")
        #expect(await before.begin(command("other", of: other)) == "ring sync c")
        #expect(await before.begin(command("other again", of: other)) == nil)
        #expect(try await store.pending(.answer, after: 0, limit: 9).isEmpty)
        #expect(await before.begin(command("more")) == nil)
        let busy = try await store.pending(.answer, after: 0, limit: 9)
        #expect(busy.map(\.answer?.topic) == ["more"])
        #expect(try JSONValue(parsing: try #require(busy.first?.answer).payload)["code"] == "busy")

        // The process ends here; the next one finds the waiting senders.
        try await Self.log(store, seed: 2).answerForgotten()
        let answers = try await store.pending(.answer, after: 1, limit: 2_000).compactMap(\.answer)
        #expect(
            Set(answers.map(\.topic)) == Set(["first", "other", "other again"] + (0..<share).map { "\($0)" }))
        #expect(answers.count == share + 3)
        for answer in answers { #expect(try JSONValue(parsing: answer.payload)["code"] == "timeout") }
    }

    @Test func `four thousand commands run at once, and one more is busy`() async throws {
        let scratch = try ScratchStore()
        let store = scratch.base
        let log = try Self.log(store)
        func command(_ name: String) -> CommandEnvelope {
            CommandEnvelope(id: name, device: DeviceID("band-\(name)"), command: "sync")
        }
        for number in 0..<CommandLog.maximumRunning {
            #expect(await log.begin(command("\(number)")) == "band-\(number) sync \(number)")
        }
        #expect(await log.begin(command("more")) == nil)
        let answers = try await store.pending(.answer, after: 0, limit: 9)
        let answer = try JSONValue(parsing: try #require(answers.first?.answer).payload)
        #expect(answers.count == 1)
        #expect(answer["id"] == "more")
        #expect(answer["status"] == "rejected")
        #expect(answer["code"] == "busy")

        // An answer makes room; and the same command does not begin twice.
        await log.complete("band-0 sync 0", Answer(.done))
        #expect(await log.begin(command("1")) == nil)
        #expect(await log.begin(command("more")) == "band-more sync more")
    }
}
