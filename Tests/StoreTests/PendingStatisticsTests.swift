import Store
import Testing
import Vitals

/// The hours whose statistics are pending: marked with the samples, kept over a restart, and given up only as they were
/// read.
@Suite final class PendingStatisticsTests {
    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private func open(marks: Bool = true) throws -> SQLiteStore {
        var options = StoreOptions()
        options.marksPendingStatistics = marks
        return try folder.open(options)
    }

    private func hours(_ range: ClosedRange<Int64>) -> ClosedRange<Hour> {
        let first = Hour(of: dawn).number
        return Hour(number: first + range.lowerBound)...Hour(number: first + range.upperBound)
    }

    @Test func `only hours that are over when their samples come are pending`() async throws {
        let store = try open()
        // 01:00:00.000 is in the running hour, 00:59:59 is not.
        _ = try await store.ingest(Ingest(.band, [beat(3_599), beat(3_600)], at: dawn + .seconds(3_600)))
        let pending = try await store.pendingStatistics()
        #expect(pending.map(\.hours) == [hours(0...0)])
        #expect(pending.map(\.device) == [.band])
        #expect(pending.map(\.metric) == [.heartRate])
    }

    @Test func `what is known already makes nothing pending, and a correction does`() async throws {
        let store = try open()
        _ = try await store.ingest(Ingest(.band, [beat(0)], at: dawn + .seconds(1)))
        _ = try await store.ingest(Ingest(.band, [beat(0)], at: dawn + .hours(5)))
        #expect(try await store.pendingStatistics().isEmpty)
        _ = try await store.ingest(Ingest(.band, [beat(0, 77)], at: dawn + .hours(5)))
        #expect(try await store.pendingStatistics().map(\.hours) == [hours(0...0)])
    }

    @Test func `a range grows in both directions, and a restart keeps it`() async throws {
        var store = try open()
        _ = try await store.ingest(Ingest(.band, [beat(7_200)], at: dawn + .hours(9)))
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(5 * 3_600)], at: dawn + .hours(9)))
        try await store.close()
        store = try open()
        let pending = try await store.pendingStatistics()
        #expect(pending.map(\.hours) == [hours(0...5)])
        #expect(pending.map(\.revision) == [2])
    }

    @Test func `hours are given up only if no sample came since they were read`() async throws {
        let store = try open()
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(7_200)], at: dawn + .hours(9)))
        let read = try #require(try await store.pendingStatistics().first)
        #expect(try await store.setPending(hours(1...2), isJoining: false, of: read))
        _ = try await store.ingest(Ingest(.band, [beat(60)], at: dawn + .hours(9)))
        #expect(try await !store.setPending(nil, isJoining: false, of: read))
        #expect(try await store.pendingStatistics().map(\.hours) == [hours(0...2)])
        let again = try #require(try await store.pendingStatistics().first)
        #expect(try await store.setPending(nil, isJoining: false, of: again))
        #expect(try await store.pendingStatistics().isEmpty)
    }

    @Test func `when it begins everything that is stored is pending, and nothing once it ends`() async throws {
        var store = try open(marks: false)
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(3 * 3_600)], at: dawn + .hours(9)))
        #expect(try await store.pendingStatistics().isEmpty)
        try await store.close()
        store = try open()
        try await store.keepPendingStatistics(true, at: dawn + .hours(9))
        #expect(try await store.pendingStatistics().map(\.hours) == [hours(0...8)])
        let all = try #require(try await store.pendingStatistics().first)
        #expect(try await store.setPending(nil, isJoining: false, of: all))
        // It has begun: a restart makes nothing pending.
        try await store.keepPendingStatistics(true, at: dawn + .hours(9))
        #expect(try await store.pendingStatistics().isEmpty)
        try await store.keepPendingStatistics(false, at: dawn + .hours(9))
        try await store.keepPendingStatistics(true, at: dawn + .hours(9))
        #expect(try await store.pendingStatistics().map(\.hours) == [hours(0...8)])
    }

    @Test
    func `a night belongs to the hour of its end, to those after it, and to those in which another one may have ended`()
        async throws
    {
        let store = try open()
        let night = Sample(
            metric: .sleep, start: dawn, end: dawn + .hours(7),
            reading: .sleep(Sleep(stages: [Sleep.Stage(.deep, from: dawn, to: dawn + .hours(7))])))
        _ = try await store.ingest(Ingest(.band, [night], at: dawn + .hours(9)))
        #expect(try await store.pendingStatistics().map(\.hours) == [hours(-17...8)])
    }

    @Test func `each sensor of a series gets an entry of its own, which later samples widen`() async throws {
        let store = try open()
        _ = try await store.ingest(Ingest(.band, [beat(0), beat(3_600)], at: dawn + .hours(9)))
        let all = try #require(try await store.pendingStatistics().first)
        #expect(all.sensor.isEmpty)
        #expect(try await store.splitPending(all, among: ["one", "two"]))
        #expect(try await !store.splitPending(all, among: ["one", "two"]))
        var pending = try await store.pendingStatistics()
        #expect(pending.map(\.sensor) == ["one", "two"])
        #expect(pending.map(\.hours) == [hours(0...1), hours(0...1)])
        // One of them waits for its own rows, and the other is done.
        #expect(try await store.setPending(hours(2...2), isJoining: true, of: pending[0]))
        #expect(try await store.setPending(nil, isJoining: false, of: pending[1]))
        #expect(try await store.pendingStatistics().map(\.isJoining) == [true])
        _ = try await store.ingest(Ingest(.band, [beat(5 * 3_600)], at: dawn + .hours(9)))
        let late = try #require(try await store.pendingStatistics().first)
        #expect(try await store.splitPending(late, among: ["one", "two"]))
        pending = try await store.pendingStatistics()
        #expect(pending.map(\.hours) == [hours(2...5), hours(5...5)])
        #expect(pending.map(\.isJoining) == [false, false])
    }

    @Test func `a device that was forgotten before has nothing pending`() async throws {
        let store = try open(marks: false)
        _ = try await store.ingest(Ingest(.band, [beat(0)], at: dawn + .hours(9)))
        try await store.forget(.band)
        try await store.keepPendingStatistics(true, at: dawn + .hours(9))
        #expect(try await store.pendingStatistics().isEmpty)
    }
}
