import GRDB
import Testing
import Vitals

@testable import Store

/// What an export is made from.
@Suite struct StoreExportTests {
    private static let always = Timestamp(milliseconds: .min)..<Timestamp(milliseconds: .max)

    /// The values of all pages of the first series, and how many samples each has.
    private func pages(
        of folder: borrowing StoreFolder, after: SampleKey? = nil
    ) throws -> (values: [Double], counts: [Int]) {
        try StoreExport.read(folder.path) { (export: StoreExport) throws -> (values: [Double], counts: [Int]) in
            let series = try #require(try export.series().first)
            var (values, counts, last): ([Double], [Int], SampleKey?) = ([], [], after)
            var page = StoreExport.Page()
            repeat {
                page = try export.page(of: series, starting: Self.always, after: last)
                values += page.samples.compactMap(\.sample.value)
                counts.append(page.samples.count)
                last = page.samples.last.map { SampleKey($0.sample) } ?? last
            } while !page.isLast
            return (values, counts)
        }
    }

    @Test func `pages have each sample once and in order, with what waits in the journal, while a gateway writes`()
        async throws
    {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, (0..<2_500).map { beat($0 * 2, Double(20 + $0 % 200)) }))
        // The first is within the first page, the second behind all others.
        _ = try await store.ingest(Ingest(.band, [beat(1, 250), beat(9_001, 251)]))
        let series = try StoreExport.read(folder.path) { try $0.series() }
        #expect(series.map(\.samples) == [2_500])
        let (values, counts) = try pages(of: folder)
        #expect(counts == [StoreExport.page + 1, StoreExport.page, 501])
        #expect(values.prefix(3) == [20, 250, 21])
        #expect(values.count == 2_502)
        #expect(values.last == 251)
        // What arrives behind the place of a reader is read, and what arrives before it is not.
        _ = try await store.ingest(Ingest(.band, [beat(3, 252), beat(9_003, 253)]))
        let rest = try pages(of: folder, after: SampleKey(beat(4_997)))
        #expect(rest.values == [Double(20 + 2_499 % 200), 251, 253])
        try await store.close()
        let all = try pages(of: folder)
        #expect(all.values.count == 2_504)
    }

    @Test func `a page has few sleeps, since each may be long`() async throws {
        let nights = (0..<60).map { night in
            let start = dawn + .days(night - 100)
            return Sample(
                metric: .sleep, start: start, end: start + .hours(8),
                reading: .sleep(Sleep(stages: [Sleep.Stage(.light, from: start, to: start + .hours(8))])))
        }
        let folder = try await StoreFolder.holding(nights)
        let (values, counts) = try pages(of: folder)
        #expect(counts == [StoreExport.sleepPage, 10])
        #expect(values.count == 60)
    }

    @Test func `a withdrawn sample is exported as such, and a range is by the start`() async throws {
        let walks = [10, 15].map { minutes in
            Sample(
                metric: .steps, start: dawn, end: dawn + .minutes(minutes), reading: .count(Increment(count: minutes)))
        }
        let later = Sample(
            metric: .steps, start: dawn + .minutes(15), end: dawn + .minutes(30), reading: .count(Increment(count: 30)))
        let folder = try await StoreFolder.holding(walks + [later])
        let page = try StoreExport.read(folder.path) { (export: StoreExport) throws -> StoreExport.Page in
            let series = try #require(try export.series().first)
            return try export.page(of: series, starting: dawn..<dawn + .minutes(15), after: nil)
        }
        #expect(page.samples.map(\.isWithdrawn) == [true, false])
        #expect(page.isLast)
    }

    @Test func `a store of an older version, and none at all, are refused with what to do`() async throws {
        let folder = try StoreFolder()
        #expect { try StoreExport.read(folder.path) { _ in } } throws: { "\($0)".contains("There is no file") }
        let store = try folder.open()
        try await store.write { transaction in
            try transaction.database.execute(
                sql: "DELETE FROM grdb_migrations WHERE identifier = (SELECT max(identifier) FROM grdb_migrations)")
        }
        try await store.close()
        #expect { try StoreExport.read(folder.path) { _ in } } throws: {
            "\($0)".contains("Start the gateway once: it converts the store.")
        }
    }
}
