import Store
import Testing
import Vitals

@Suite struct FactTests {
    @Test func `numbers facts by one over all lanes and hands them on in commit order`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)], lane: .history))
        _ = try await store.ingest(Ingest(.ring, [beat(1)]))
        try await store.report(.sample, of: .band)
        #expect(folder.committed.all.map(\.sequence) == [1, 2, 3])
        #expect(folder.committed.all.map(\.lane) == [.history, .live, .alert])
        #expect(try await store.facts(1...10, limit: 10) == folder.committed.all)
        #expect(try await store.facts(2...10, limit: 1) == [folder.committed.all[1]])
    }

    @Test func `a warning is a fact once, in any transaction and after a restart, and an alert each time`() async throws
    {
        func event(_ rule: AlertRule, _ second: Int) -> AlertEvent {
            let moment = dawn + .seconds(second)
            return AlertEvent(
                id: SampleID(name: "\(rule.name) \(second)"), rule: rule, edge: .raised, value: nil, limit: nil,
                origin: .device, measuredAt: moment, raisedAt: moment, sampleID: nil)
        }
        func ingest(_ events: [AlertEvent], of device: DeviceID = .band) -> Ingest {
            Ingest(device, []) { $0.facts = events.map { (.alert, .alert($0, isLate: true)) } }
        }
        let folder = try StoreFolder()
        var store = try folder.open()
        let (irregular, resting) = (AlertRule(.irregularRhythm), AlertRule(.heartRate, .resting, .high))
        let first = [event(irregular, 0), event(resting, 0), event(irregular, 0), event(irregular, 1)]
        let result = try await store.ingest(ingest(first))
        #expect(result.repeatedFacts == [2])
        #expect(folder.committed.all.map(\.sequence) == [1, 2, 3])
        try await store.close()
        store = try folder.open()
        let again = try await store.ingest(ingest(first + [event(AlertRule(.fibrillation), 0)]))
        #expect(again.repeatedFacts == [0, 2, 3])
        #expect(folder.committed.all.map(\.sequence).suffix(2) == [4, 5])
        // Another device warns for itself, and one that was forgotten warns of nothing again.
        let other = try await store.ingest(ingest(first, of: .ring))
        #expect(other.repeatedFacts == [2])
        try await store.forget(.band)
        let forgotten = try await store.ingest(ingest(first))
        #expect(forgotten.repeatedFacts == [0, 2, 3])
    }

    @Test func `goes on with its numbers after a restart`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        try await store.close()
        store = try folder.open(identity: 2)
        #expect(store.opening == .existing)
        #expect(store.identity == SampleID(high: 1, low: 0))
        _ = try await store.ingest(Ingest(.band, [beat(1)]))
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [1, 2])
    }

    @Test func `forgets nothing that was committed when the process dies`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        for second in 0..<20 { _ = try await store.ingest(Ingest(.band, [beat(second)])) }
        let crashed = try folder.crashed()
        let other = try crashed.open()
        #expect(try await other.all().count == 20)
        #expect(try await other.pendingFacts(.live, after: 0, limit: 99) == folder.committed.all)
        _ = try await other.ingest(Ingest(.band, [beat(20)]))
        #expect(crashed.committed.all.map(\.sequence) == [21])
    }

    @Test func `everything up to the watermark is delivered, and it never goes back`() async throws {
        let store = try SQLiteStore.scratch()
        for second in 0..<6 { _ = try await store.ingest(Ingest(.band, [beat(second), beat(second + 100)])) }
        try await store.acknowledge(.live, through: 4)
        try await store.acknowledge(.live, through: 2)
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [5, 6])
        #expect(try await store.pendingFacts(.live, after: 5, limit: 9).map(\.sequence) == [6])
        #expect(try await store.pendingFacts(.live, after: 0, limit: 1).map(\.sequence) == [5])
        #expect(try await store.statistics().pending[.live] == 2)
        try await store.acknowledge(.live, through: .max)
        _ = try await store.ingest(Ingest(.band, [beat(50)]))
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [7])
        #expect(try await store.statistics().pending[.live] == 1)
        #expect(try await store.statistics().pending[.history] == 0)
    }

    @Test func `a watermark of one lane leaves the others`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0)], lane: .history))
        _ = try await store.ingest(Ingest(.band, [beat(1)], lane: .live))
        try await store.acknowledge(.live, through: 2)
        #expect(try await store.pendingFacts(.history, after: 0, limit: 9).map(\.sequence) == [1])
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).isEmpty)
    }

    @Test func `a fact of a sample that was corrected says what holds now`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0, 60), beat(1, 61)]))
        _ = try await store.ingest(Ingest(.band, [beat(0, 70)]))
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.values) == [[70, 61], [70]])
    }

    @Test func `keeps what is delivered for replay, and then drops it`() async throws {
        let store = try SQLiteStore.scratch { $0.replayAge = .days(7) }
        _ = try await store.ingest(Ingest(.band, [beat(0)], at: dawn))
        _ = try await store.ingest(Ingest(.band, [beat(1)], at: dawn + .days(1)))
        _ = try await store.ingest(Ingest(.band, [beat(2)], at: dawn))
        try await store.acknowledge(.live, through: 2)
        #expect(try await store.clean(at: dawn + .days(6)) == false)
        #expect(try await store.facts(1...9, limit: 9).map(\.sequence) == [1, 2, 3])
        #expect(try await store.clean(at: dawn + .days(8)) == false)
        #expect(try await store.facts(1...9, limit: 9).map(\.sequence) == [2, 3])
        #expect(try await store.clean(at: dawn + .days(9)) == false)
        #expect(try await store.facts(1...9, limit: 9).map(\.sequence) == [3])
        #expect(try await store.all().count == 3)
    }

    @Test func `says how much waits and since when`() async throws {
        let store = try SQLiteStore.scratch()
        #expect(try await store.statistics().oldestPendingAt == nil)
        _ = try await store.ingest(Ingest(.band, [beat(0)], at: dawn + .hours(3)))
        _ = try await store.ingest(Ingest(.band, [beat(1)], at: dawn + .hours(2), lane: .history))
        let statistics = try await store.statistics()
        #expect(statistics.pending == [.alert: 0, .answer: 0, .live: 1, .history: 1])
        #expect(statistics.oldestPendingAt == dawn + .hours(2))
        #expect(statistics.bytes > 4_096)
    }
}

extension Gap {
    static let sample = Gap(
        metric: .heartRate, from: dawn, to: dawn + .hours(1), count: 12, reason: .device, at: dawn + .hours(2),
        sequences: [3...4, 9...9])
}
