import Concurrency
import Contract
import GatewayKit
import GatewayTesting
import JSON
import Logging
import Store
import TestSupport
import Testing
import Vitals

@testable import Delivery
@testable import Gateway

/// Commands of callers in the process, such as the API: their answers go to them, and to nobody else.
@Suite struct CallerTests {
    private static func log(_ store: any CommandStore) throws -> CommandLog {
        let settings = DeliverySettings(
            topics: ContractTopics(gateway: try #require(DeviceID("home"))),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return CommandLog(
            store: store, retained: RetainedStates(wakeup: Signal()), settings: settings, generator: SplitMix64(seed: 1)
        )
    }

    private static func envelope(_ id: String, _ answers: Recorder<String>) -> CommandEnvelope {
        var envelope = CommandEnvelope(id: id, content: SampleID(name: "c"), device: DeviceID("band"), command: "sync")
        envelope.caller = CommandCaller { payload, isFinal in
            let status = (try? JSONValue(parsing: payload))?["status"]?.asString ?? "?"
            answers.append(isFinal ? status : "\(status)…")
        }
        return envelope
    }

    @Test func `a caller gets each answer, and none of them waits for the broker`() async throws {
        let scratch = try ScratchStore()
        let log = try Self.log(scratch.base)
        let answers = Recorder<String>()
        let key = try #require(await log.begin(Self.envelope("1", answers)))
        await log.complete(key, Answer(.accepted))
        await log.complete(key, Answer(.done))
        #expect(answers.elements == ["accepted…", "done"])
        #expect(try await scratch.base.pending(.answer, after: 0, limit: 9).isEmpty)
        #expect(try await scratch.base.statistics().pending[.answer] == 0)
    }

    @Test func `sent again with its id, a command has the same answer, also beside a sender of MQTT`() async throws {
        let scratch = try ScratchStore()
        let log = try Self.log(scratch.base)
        let answers = Recorder<String>()
        let key = try #require(await log.begin(Self.envelope("1", answers)))
        var other = Self.envelope("1", answers)
        other.caller = nil
        #expect(await log.begin(other) == nil)
        await log.complete(key, Answer(.done))
        #expect(await log.begin(Self.envelope("1", answers)) == nil)
        #expect(answers.elements == ["done", "done"])
        #expect(try await scratch.base.pending(.answer, after: 0, limit: 9).count == 1)
    }

    @Test func `a refusal, and an answer that cannot be stored, reach the caller`() async throws {
        let scratch = try ScratchStore()
        let answers = Recorder<String>()
        let log = try Self.log(scratch.base)
        await log.reject(Answer(.rejected, code: .invalid), Self.envelope("1", answers))
        let full = FaultyStore(scratch.base) { call, _ in
            call == .complete ? .failure(StoreError(.full, "The disk is full.")) : nil
        }
        let failing = try Self.log(full)
        await failing.complete(try #require(await failing.begin(Self.envelope("2", answers))), Answer(.done))
        #expect(answers.elements == ["rejected", "done"])
    }

    @Test func `a command that a crash cut short is answered to nobody`() async throws {
        let scratch = try ScratchStore()
        let answers = Recorder<String>()
        let (first, next) = (try Self.log(scratch.base), try Self.log(scratch.base))
        #expect(await first.begin(Self.envelope("1", answers)) != nil)
        await next.answerForgotten()
        #expect(answers.elements.isEmpty)
        #expect(try await scratch.base.pending(.answer, after: 0, limit: 9).isEmpty)
        #expect(try await scratch.base.unanswered(after: 0, limit: 9).isEmpty)
    }
}
