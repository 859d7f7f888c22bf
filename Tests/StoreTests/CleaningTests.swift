import Store
import Testing
import Vitals

@Suite struct CleaningTests {
    @Test func `drops what the broker never took in 30 days, and reports it in one gap per device and metric`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(9, lasting: 5)], at: dawn, lane: .history))
        _ = try await store.ingest(Ingest(.ring, [beat(5)], at: dawn, lane: .live))
        _ = try await store.ingest(Ingest(.band, [beat(2)], at: dawn, lane: .live))
        _ = try await store.ingest(Ingest(.band, [beat(3)], at: dawn + .days(2), lane: .live))
        #expect(try await store.clean(at: dawn + .days(30)) == false)
        #expect(folder.committed.all.count == 4)
        let moment = dawn + .days(31)
        #expect(try await store.clean(at: moment) == false)
        let gaps = folder.committed.all.dropFirst(4)
        #expect(gaps.map(\.device) == [.band, .ring])
        #expect(gaps.map(\.lane) == [.alert, .alert])
        #expect(
            gaps.map(\.gap) == [
                Gap(
                    metric: .heartRate, from: dawn, to: dawn + .seconds(14), count: 3, reason: .evicted, at: moment,
                    sequences: [1...1, 3...3]),
                Gap(
                    metric: .heartRate, from: dawn + .seconds(5), to: dawn + .seconds(5), count: 1, reason: .evicted,
                    at: moment, sequences: [2...2]),
            ])
        let statistics = try await store.statistics()
        #expect(statistics.dropped == ["history": 2, "live": 2])
        #expect(statistics.pending == [.alert: 2, .answer: 0, .live: 1, .history: 0])
        #expect(try await store.facts(1...99, limit: 99).map(\.sequence) == [4, 5, 6])
        #expect(try await store.all().count == 4)
    }

    @Test func `by a date that is not trusted nothing is too old, and what is too much goes all the same`() async throws
    {
        let store = try SQLiteStore.scratch {
            $0.sampleRetention = .days(400)
            $0.dailyRetention = .days(400)
            $0.outboxMaximumBytes = 12_000
        }
        _ = try await store.ingest(Ingest(.band, [beat(0)], at: dawn, lane: .live))
        #expect(try await store.clean(at: dawn + .days(9_000), byAge: false) == false)
        #expect(try await store.facts(1...9, limit: 9).count == 1)
        #expect(try await store.all().count == 1)
        let beats = (1...300).map { beat($0) }
        _ = try await store.ingest(Ingest(.band, beats, at: dawn, lane: .history))
        #expect(try await store.clean(at: dawn + .days(9_000), byAge: false) == false)
        #expect(try await store.statistics().dropped["history"] == 300)
        #expect(try await store.all().count == 301)
    }

    @Test func `over the limit of bytes history goes first, then live, and alerts stay`() async throws {
        let store = try SQLiteStore.scratch { $0.outboxMaximumBytes = 12_000 }
        for hour in 0..<3 {
            let beats = (0..<100).map { beat(hour * 3_600 + $0) }
            _ = try await store.ingest(Ingest(.band, beats, lane: .history))
            _ = try await store.ingest(Ingest(.ring, beats, lane: .live))
        }
        try await store.report(.sample, of: .band)
        #expect(try await store.clean(at: dawn + .days(1)) == false)
        var statistics = try await store.statistics()
        #expect(statistics.pending[.history] == 0)
        #expect(try #require(statistics.pending[.live]) < 3)
        #expect(try #require(statistics.pending[.alert]) >= 2)
        #expect(try #require(statistics.dropped["history"]) == 300)
        #expect(statistics.dropped["alert"] == nil)
        #expect(try await store.clean(at: dawn + .days(1)) == false)
        let again = try await store.statistics()
        statistics.bytes = again.bytes
        #expect(again == statistics)
    }

    @Test func `a gap that is dropped itself goes on in a new one`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.report(.sample, of: .band)
        _ = try await store.clean(at: dawn + .days(40))
        let gap = try #require(folder.committed.all.last?.gap)
        #expect(gap.sequences == [1...1, 3...4, 9...9])
        #expect(gap.count == 12)
        #expect(gap.from == dawn)
        #expect(try await store.pendingFacts(.alert, after: 0, limit: 9).map(\.sequence) == [2])
    }

    @Test func `an alert that is dropped is reported with its time`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let event = AlertEvent(
            id: SampleID(high: 1, low: 1), rule: AlertRule(.stress, .high), edge: .raised, value: 91, limit: 80,
            origin: .gateway, measuredAt: dawn, raisedAt: dawn, sampleID: nil)
        let ingest = Ingest(.band, [], at: dawn) {
            $0.facts = [(.alert, .alert(event, isLate: false)), (.alert, .alert(event, isLate: true))]
        }
        _ = try await store.ingest(ingest)
        #expect(try await store.pendingFacts(.alert, after: 0, limit: 9) == folder.committed.all)
        _ = try await store.clean(at: dawn + .days(40))
        let gap = try #require(folder.committed.all.last?.gap)
        #expect(gap.metric == .stress)
        #expect(gap.from == dawn)
        #expect(gap.sequences == [1...2])
        #expect(try await store.statistics().dropped == ["alert": 2])
    }

    @Test func `drops a bounded part at a time and says that more is to do`() async throws {
        let store = try SQLiteStore.scratch { $0.cleanLimit = 4 }
        for second in 0..<10 { _ = try await store.ingest(Ingest(.band, [beat(second)], at: dawn)) }
        var rounds = 0
        while try await store.clean(at: dawn + .days(31)) { rounds += 1 }
        #expect(rounds == 2)
        #expect(try await store.pendingFacts(.live, after: 0, limit: 99).isEmpty)
        #expect(try await store.statistics().dropped == ["live": 10])
    }

    @Test func `facts of a clock that was far ahead do not hold back what came after them`() async throws {
        let store = try SQLiteStore.scratch { $0.cleanLimit = 4 }
        for second in 0..<9 { _ = try await store.ingest(Ingest(.band, [beat(second)], at: dawn + .days(365))) }
        for second in 9..<18 { _ = try await store.ingest(Ingest(.band, [beat(second)], at: dawn)) }
        try await store.acknowledge(.live, through: 18)
        while try await store.clean(at: dawn + .days(8)) {}
        #expect(try await store.facts(1...18, limit: 99).isEmpty)
    }

    @Test func `samples end with their retention, but not while a fact holds them`() async throws {
        let store = try SQLiteStore.scratch { $0.sampleRetention = .days(400) }
        let old = (0..<5).map { beat($0 - 500 * 86_400) }
        _ = try await store.ingest(Ingest(.band, old + [beat(1)], at: dawn))
        #expect(try await store.clean(at: dawn + .days(1)) == false)
        #expect(try await store.all().count == 6)
        try await store.acknowledge(.live, through: 1)
        #expect(try await store.clean(at: dawn + .days(8)) == false)
        #expect(try await store.clean(at: dawn + .days(8)) == false)
        #expect(try await store.all().map(\.sample) == [beat(1)])
        #expect(try await store.load(.band).latest[.heartRate]?.sample == beat(1))
    }

    @Test func `daily summaries stay for ever or end with their retention`() async throws {
        let store = try SQLiteStore.scratch { $0.dailyRetention = .days(100) }
        for number in [20_000, 20_700] {
            let summary = DailySummary(
                metric: .stress, day: LocalDay(number: number), count: 1, manualCount: 0, average: 1,
                details: .values(.init()))
            _ = try await store.settle(summary, of: .band, isFinal: false, at: dawn)
        }
        #expect(try await store.clean(at: dawn) == false)
        let all = LocalDay(number: 0)...LocalDay(number: 30_000)
        #expect(
            try await store.days(of: .band, metric: .stress, in: all, limit: 9).map(\.summary.day.number) == [20_700])
    }
}
