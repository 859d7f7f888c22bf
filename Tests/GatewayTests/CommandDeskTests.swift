import Contract
import Engines
import GatewayKit
import GatewayTesting
import JSON
import Logging
import Testing
import Vitals

@testable import Gateway

/// Each command runs once and has one answer, whenever it comes again.
@Suite struct CommandDeskTests {
    @Test func `a command that comes again while its answer is written down does not run again`() async throws {
        let gateway = try #require(DeviceID("home"))
        let settings = CoreSettings(
            gateway: gateway.text, version: "0", topics: ContractTopics(gateway: gateway),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let wakeup = Wakeup()
        let (isWriting, mayWrite) = (Latch<Void>(), Latch<Void>())
        let store = InMemoryStore()
        let slow = FaultyStore(store) { call, _ in
            guard call == .finish, isWriting.value == nil else { return nil }
            return .delay {
                isWriting.open(())
                _ = try? await mayWrite.wait()
            }
        }
        let desk = CommandDesk(
            store: slow, outbox: Outbox(wakeup: wakeup), board: StateBoard(wakeup: wakeup),
            wire: WireEncoder(settings: settings, discovery: .off), settings: settings, generator: SplitMix64(seed: 1))
        let envelope = CommandEnvelope(id: "1", device: DeviceID("band"), command: "measure")
        let key = try #require(await desk.begin(envelope))
        async let finished: Void = desk.finish(key, Answer(.done))
        try await isWriting.wait()
        #expect(await desk.begin(envelope) == nil)
        mayWrite.open(())
        await finished
        #expect(await desk.begin(envelope) == nil)
        let answers = try await store.pendingAnswers(after: 0, limit: 9)
        #expect(answers.count == 3)
        for (_, answer) in answers { #expect(try JSONValue(parsing: answer.payload)["status"] == "done") }
    }
}
