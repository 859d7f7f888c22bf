import Store
import Testing
import Vitals

@Suite struct QuarantineTests {
    @Test func `a fact that is quarantined waits no longer, is reported as a gap, and can be read by its number`()
        async throws
    {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(5)]))
        _ = try await store.ingest(Ingest(.ring, [beat(1)]))
        let facts = try await store.facts(1...9, limit: 9)
        let moment = dawn + .hours(2)
        try await store.quarantine([RefusedFact(lane: .live, number: 1, reason: "too long")], at: moment)
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [2])
        #expect(try await store.facts(1...2, limit: 9) == facts)
        let gaps = try await store.pendingFacts(.alert, after: 0, limit: 9)
        #expect(
            gaps.map(\.gap) == [
                Gap(
                    metric: .heartRate, from: dawn, to: dawn + .seconds(5), count: 2, reason: .refused, at: moment,
                    sequences: [1...1])
            ])
        var statistics = try await store.statistics()
        #expect(statistics.quarantined == 1)
        #expect(statistics.pending == [.alert: 1, .answer: 0, .live: 1, .history: 0])

        // Twice changes nothing, and what is acknowledged cannot be quarantined.
        try await store.acknowledge(.live, through: 2)
        try await store.quarantine([1, 2].map { RefusedFact(lane: .live, number: $0, reason: "too long") }, at: moment)
        #expect(try await store.pendingFacts(.alert, after: 0, limit: 9).count == 1)
        try await store.releaseQuarantined([1])
        statistics = try await store.statistics()
        #expect(statistics.quarantined == 0)
        #expect(try await store.facts(1...1, limit: 9).isEmpty)
    }

    @Test func `only the refused samples of a fact are kept, and a refused gap makes no other`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(5), beat(7)]))
        let fact = try #require(try await store.facts(1...1, limit: 1).first)
        guard case .measurement(let measurement) = fact.content else { return }
        let refused = RefusedFact(lane: .live, number: 1, samples: [measurement.samples[1]], reason: "too long")
        try await store.quarantine([refused], at: dawn)
        #expect(try await store.facts(1...1, limit: 1).first?.values.count == 1)
        let gap = try #require(try await store.pendingFacts(.alert, after: 0, limit: 9).first)
        #expect(gap.gap?.count == 1)
        #expect(gap.gap?.from == dawn + .seconds(5))
        try await store.quarantine([RefusedFact(lane: .alert, number: gap.sequence, reason: "no")], at: dawn)
        #expect(try await store.pendingFacts(.alert, after: 0, limit: 9).isEmpty)
        #expect(try await store.statistics().quarantined == 2)
    }

    @Test func `what is quarantined ends with the age and the number of the outbox's limits`() async throws {
        let store = try SQLiteStore.scratch { $0.maximumQuarantined = 3 }
        for second in 0..<5 { _ = try await store.ingest(Ingest(.band, [beat(second)], at: dawn)) }
        try await store.quarantine((1...5).map { RefusedFact(lane: .live, number: $0, reason: "no") }, at: dawn)
        _ = try await store.clean(at: dawn + .minutes(1))
        #expect(try await store.facts(1...5, limit: 9).map(\.sequence) == [3, 4, 5])
        _ = try await store.clean(at: dawn + .days(31))
        let statistics = try await store.statistics()
        #expect(statistics.quarantined == 0)
        #expect(statistics.dropped["quarantined"] == 5)
    }
}
