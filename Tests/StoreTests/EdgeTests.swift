import Testing
import Vitals

@testable import Store

/// What the store's readers get for pages: the history of alerts, and samples without a turn of the writer.
@Suite struct EdgeTests {
    private static func edge(_ second: Int, _ name: String = "", user: Int? = nil) -> AlertEvent {
        let moment = dawn + .seconds(second)
        return AlertEvent(
            id: SampleID(name: "\(second)\(name)"), rule: AlertRule(.stress, .high), edge: .raised, value: 90,
            limit: 80,
            origin: .gateway, measuredAt: moment, raisedAt: moment, sampleID: nil, user: user)
    }

    private func store(_ edges: [AlertEvent], in store: SQLiteStore, of device: DeviceID = .band) async throws {
        _ = try await store.ingest(
            Ingest(device, []) { outcome in outcome.facts = edges.map { (.alert, .alert($0, isLate: false)) } })
    }

    @Test func `edges of alerts are read newest first, those of one moment together, long after their facts`()
        async throws
    {
        let scratch = try SQLiteStore.scratch()
        try await store([0, 10, 20, 20, 30].enumerated().map { Self.edge($1, "\($0)") }, in: scratch)
        try await store([Self.edge(25)], in: scratch, of: .ring)
        func seconds(before second: Int, _ limit: Int) async throws -> [Int] {
            try await scratch.edges(of: .band, before: dawn + .seconds(second), limit: limit)
                .map { Int(($0.measuredAt - dawn).components.seconds) }
        }
        #expect(try await seconds(before: 99, 2) == [30, 20, 20])
        #expect(try await seconds(before: 20, 9) == [10, 0])
        #expect(try await seconds(before: 20, 1) == [10])
        #expect(try await seconds(before: 0, 9) == [])
        try await scratch.acknowledge(.alert, through: 6)
        _ = try await scratch.clean(at: dawn + .days(100))
        #expect(try await scratch.facts(1...9, limit: 9).isEmpty)
        #expect(try await seconds(before: 99, 9) == [30, 20, 20, 10, 0])
        #expect(try await scratch.edges(of: .band, before: .latest, limit: 9).last == Self.edge(0, "0"))
    }

    @Test func `gaps are read newest first, also when they were sent`() async throws {
        let scratch = try SQLiteStore.scratch()
        var second = Gap.sample
        second.reason = .evicted
        try await scratch.report(.sample, of: .band)
        try await scratch.report(second, of: .band)
        try await scratch.report(.sample, of: .ring)
        try await store([Self.edge(0)], in: scratch)
        try await scratch.acknowledge(.alert, through: 4)
        #expect(try await scratch.gaps(of: .band, limit: 9) == [second, .sample])
        #expect(try await scratch.gaps(of: .band, limit: 1) == [second])
        #expect(try await scratch.gaps(of: .ring, limit: 9) == [.sample])
    }

    @Test func `gaps of a device are read newest first, as long as their facts are kept`() async throws {
        let scratch = try SQLiteStore.scratch()
        func gap(_ second: Int) -> Gap {
            Gap(metric: .stress, from: nil, to: nil, count: second, reason: .device, at: dawn + .seconds(second))
        }
        func store(_ gaps: [Gap], of device: DeviceID) async throws {
            _ = try await scratch.ingest(
                Ingest(device, []) { outcome in outcome.facts = gaps.map { (.alert, .gap($0)) } })
        }
        try await store([gap(1), gap(2), gap(3)], of: .band)
        try await store([gap(9)], of: .ring)
        try await self.store([Self.edge(4)], in: scratch)
        #expect(try await scratch.gaps(of: .band, limit: 2) == [gap(3), gap(2)])
        #expect(try await scratch.gaps(of: .ring, limit: 9) == [gap(9)])
        try await scratch.acknowledge(.alert, through: 5)
        _ = try await scratch.clean(at: dawn + .days(100))
        #expect(try await scratch.gaps(of: .band, limit: 9) == [])
    }

    @Test func `edges end with the retention of samples`() async throws {
        let scratch = try SQLiteStore.scratch { $0.sampleRetention = .days(400) }
        try await store([Self.edge(0), Self.edge(86_400)], in: scratch)
        _ = try await scratch.clean(at: dawn + .days(400) + .hours(1))
        #expect(try await scratch.edges(of: .band, before: .latest, limit: 9) == [Self.edge(86_400)])
    }

    @Test func `an erasure takes the edges of its user slot, and of its device`() async throws {
        let folder = try StoreFolder()
        let first = try folder.open()
        try await store([Self.edge(0, user: 1), Self.edge(1, user: 2), Self.edge(2)], in: first)
        try await store([Self.edge(3)], in: first, of: .ring)
        try await first.close()
        // It holds the store as long as it lives.
        _ = try StoreErasure(of: folder.path).erase(
            [StoreErasure.Target(.band, [.user(1)], isConfigured: true)], at: dawn + .hours(1))
        let second = try folder.open()
        #expect(try await second.edges(of: .band, before: .latest, limit: 9) == [Self.edge(2), Self.edge(1, user: 2)])
        try await second.close()
        _ = try StoreErasure(of: folder.path).erase(
            [StoreErasure.Target(.band, [.device], isConfigured: false)], at: dawn + .hours(1))
        let third = try folder.open()
        #expect(try await third.edges(of: .band, before: .latest, limit: 9).isEmpty)
        #expect(try await third.edges(of: .ring, before: .latest, limit: 9) == [Self.edge(3)])
    }

    @Test func `an edge says who has seen its alert, also of a past one, until that person is erased`() async throws {
        let folder = try StoreFolder()
        let first = try folder.open()
        let edge = Self.edge(0)
        try await store([edge, Self.edge(10)], in: first)
        let seen = Acknowledgement(by: "dora", at: dawn + .seconds(5))
        let active = AlertLevel(
            rule: edge.rule, isActive: true, since: edge.measuredAt, lastID: edge.id, acknowledgement: seen)
        try await first.save([.level(active)], of: .band)
        let over = AlertLevel(
            rule: edge.rule, isActive: false, since: dawn + .seconds(9), lastID: SampleID(name: "end"))
        try await first.save([.level(over)], of: .band)
        let before = try await first.edges(of: .band, before: .latest, limit: 9)
        #expect(before.map(\.acknowledgement) == [nil, seen])
        try await first.close()
        let found = try StoreErasure.acknowledged(by: "dora", in: folder.path)
        #expect(found.map { $0.rule } == [edge.rule])
        _ = try StoreErasure(of: folder.path).erase([], acknowledgedBy: "dora", at: dawn + .hours(1))
        let second = try folder.open()
        let after = try await second.edges(of: .band, before: .latest, limit: 9)
        #expect(after.map(\.acknowledgement) == [nil, nil])
    }

    @Test func `samples are read with what waits in the journal, in pages, and the writer takes no turn`() async throws
    {
        let scratch = try SQLiteStore.scratch()
        _ = try await scratch.ingest(Ingest(.band, (0..<1_500).map { beat($0 * 2) }))
        _ = try await scratch.ingest(Ingest(.band, [beat(1), beat(9_001)]))
        let commits = await scratch.commitCount
        var (found, last): ([StoredSample], SampleKey?) = ([], nil)
        while true {
            let page = try await scratch.history(
                of: .band, .heartRate, starting: dawn..<dawn + .days(1), after: last, limit: 400)
            found += page
            last = page.last.map { SampleKey($0.sample) }
            guard page.count == 400 else { break }
        }
        let expected = ([1, 9_001] + (0..<1_500).map { $0 * 2 }).sorted().map { dawn + .seconds($0) }
        #expect(found.map(\.sample.start) == expected)
        let some = try await scratch.history(
            of: .band, .heartRate, starting: dawn + .seconds(1)..<dawn + .seconds(4), after: nil, limit: 9)
        #expect(some.map(\.sample.start) == [1, 2].map { dawn + .seconds($0) })
        #expect(await scratch.commitCount == commits)
        #expect(
            try await scratch.history(of: .ring, .stress, starting: dawn..<dawn + .days(1), after: nil, limit: 9)
                .isEmpty)
    }
}
