import Concurrency
import Contract
import GatewayKit
import GatewayTesting
import JSON
import Logging
import StoreAPI
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
}
