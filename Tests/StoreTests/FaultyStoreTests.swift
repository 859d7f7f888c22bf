import Store
import TestSupport
import Testing
import Vitals

@Suite struct FaultyStoreTests {
    @Test func `fails the calls that its script names, without doing them`() async throws {
        let folder = try StoreFolder()
        let full = StoreError(.full, "The disk is full.")
        let store = FaultyStore(try folder.open()) { call, number in
            call == .ingest && number == 2 ? .failure(full) : nil
        }
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        await #expect(throws: full) { try await store.ingest(Ingest(.band, [beat(1)])) }
        _ = try await store.ingest(Ingest(.band, [beat(2)]))
        #expect(try await store.all().map(\.sample) == [beat(0), beat(2)])
    }

    @Test(arguments: [false, true]) func `a crash leaves what was on disk`(isAfter: Bool) async throws {
        let folder = try StoreFolder()
        let base = try folder.open()
        let store = FaultyStore(base) { call, _ in call == .ingest ? (isAfter ? .crashAfter : .crashBefore) : nil }
        let died = Task { try await store.ingest(Ingest(.band, [beat(0)])) }  // it ends only with `endRun`
        while !store.isCrashed { await Task.yield() }
        store.endRun()
        await #expect(throws: StoreError.self) { _ = try await died.value }
        await #expect(throws: StoreError.self) { try await store.statistics() }
        try await base.close()
        #expect(try await folder.open().all().count == (isAfter ? 1 : 0))
    }

    @Test func `a slow disk only takes longer`() async throws {
        let folder = try StoreFolder()
        let waited = Counter()
        let store = FaultyStore(try folder.open()) { _, _ in .delay { waited.add() } }
        #expect(try await store.ingest(Ingest(.band, [beat(0)])).new == 1)
        #expect(waited.value == 1)
    }
}
