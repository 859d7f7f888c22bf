import GatewayKit
import Testing
import Vitals

@Suite(.timeLimit(.minutes(1))) struct SettledBatchesTests {
    private let batches = SettledBatches()
    private let inbox = EventInbox()

    private static func beats(_ count: Int) -> [Sample] {
        (0..<count).map {
            Sample(metric: .heartRate, start: Timestamp(seconds: 1_795_219_200) + .seconds($0), reading: .value(60))
        }
    }

    /// The receipts of the next batch in the inbox.
    private func nextReceipts() async throws -> [SampleReceipt] {
        let events = try #require(try await inbox.next())
        guard case .samples(_, let receipts) = events.first else { return [] }
        return receipts
    }

    @Test func `a batch returns when all of its samples are settled, with what became of each`() async throws {
        async let outcomes = batches.send(Self.beats(3), to: inbox)
        let receipts = try await nextReceipts()
        #expect(receipts.count == 3)
        batches.settle([SettledReceipt(receipts[0], .new)])
        batches.settle([SettledReceipt(SampleReceipt("of another part"), .superseded)])
        batches.settle(receipts.dropFirst().map { SettledReceipt($0, .known) })
        let found = try await outcomes
        #expect(found == [.new, .known, .known])
    }

    @Test func `the outcomes have the order of the samples, and a receipt counts once`() async throws {
        async let outcomes = batches.send(Self.beats(3), to: inbox)
        let receipts = try await nextReceipts()
        batches.settle([SettledReceipt(receipts[2], .known), SettledReceipt(receipts[0], .corrected)])
        for mark in ["", "1", "x/1", "1/x", "1/3", "1/-1", "7/0"] {
            batches.settle([SettledReceipt(SampleReceipt(mark), .superseded)])
        }
        batches.settle([SettledReceipt(receipts[2], .superseded), SettledReceipt(receipts[1], .new)])
        let found = try await outcomes
        #expect(found == [.corrected, .new, .known])
    }

    @Test func `batches that wait together are settled each by its own receipts`() async throws {
        async let first = batches.send(Self.beats(1), to: inbox)
        let receipts = try await nextReceipts()
        async let second = batches.send(Self.beats(1), to: inbox)
        let others = try await nextReceipts()
        #expect(receipts != others)
        batches.settle(others.map { SettledReceipt($0, .corrected) })
        let later = try await second
        batches.settle(receipts.map { SettledReceipt($0, .new) })
        let earlier = try await first
        #expect(earlier == [.new] && later == [.corrected])
    }

    @Test func `warnings are settled like samples`() async throws {
        let warning = DeviceAlert(
            rule: AlertRule(.irregularRhythm), edge: .raised, value: nil, at: Timestamp(seconds: 1_795_219_200))
        async let outcomes = batches.send(warnings: [warning, warning], to: inbox)
        let events = try #require(try await inbox.next())
        guard case .warnings(let warnings, let receipts) = events.first else {
            Issue.record("no warnings")
            return
        }
        #expect(warnings == [warning, warning])
        batches.settle(zip(receipts, [SettledReceipt.Outcome.new, .known]).map { SettledReceipt($0, $1) })
        let found = try await outcomes
        #expect(found == [.new, .known])
    }

    @Test func `a batch without samples is not sent`() async throws {
        let outcomes = try await batches.send([], to: inbox)
        #expect(outcomes.isEmpty)
        inbox.finish()
        let events = try await inbox.next()
        #expect(events == nil)
    }

    @Test func `a cancelled sender no longer waits, and late receipts change nothing`() async throws {
        let sender = Task { [batches, inbox] in try await batches.send(Self.beats(1), to: inbox) }
        let receipts = try await nextReceipts()
        sender.cancel()
        await #expect(throws: CancellationError.self) { try await sender.value }
        batches.settle(receipts.map { SettledReceipt($0, .new) })
    }
}
