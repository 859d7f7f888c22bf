import Concurrency
import GRDB
import Testing
import Vitals

@testable import Store

@Suite struct GroupCommitTests {
    @Test func `callers that wait together share one commit`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open(executor: GateExecutor(opensAt: 10))
        let results = try await withThrowingTaskGroup(of: IngestResult.self) { group in
            for number in 0..<10 {
                group.addTask { try await store.ingest(Ingest(number % 2 == 0 ? .band : .ring, [beat(number)])) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.map(\.new) == Array(repeating: 1, count: 10))
        #expect(await store.commitCount == 1)
        #expect(Set(folder.committed.all.map(\.sequence)) == Set(1...10))
    }

    @Test func `requests that wait for a batch share a commit, and one that does not wait takes them along`()
        async throws
    {
        let folder = try StoreFolder()
        // The pause never ends by itself.
        let (pauses, pause) = (Counter(), Promise<Void>())
        let store = try SQLiteStore(
            path: folder.path,
            pause: { _ in
                pauses.add()
                try? await pause.wait()
            }, now: StoreFolder.now, newIdentity: SampleID(high: 1, low: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<5 {
                group.addTask {
                    var ingest = Ingest(.band, [beat(number)])
                    ingest.waitsForBatch = true
                    _ = try await store.ingest(ingest)
                }
            }
            while pauses.value < 5 { await Task.yield() }
            #expect(await store.commitCount == 0)
            _ = try await store.ingest(Ingest(.band, [beat(9)]))
            #expect(await store.commitCount == 1)
            #expect(try await store.statistics().pending[.live] == 6)
            pause.fulfil(())
            try await group.waitForAll()
        }
        #expect(await store.commitCount == 1)
    }

    @Test func `a commit takes a bounded number of samples`() async throws {
        let folder = try StoreFolder()
        var options = StoreOptions()
        options.commitLimit = 5
        let store = try folder.open(options, executor: GateExecutor(opensAt: 3))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask { _ = try await store.ingest(Ingest(.band, (0..<4).map { beat(number * 10 + $0) })) }
            }
            try await group.waitForAll()
        }
        #expect(await store.commitCount == 3)
        #expect(try await store.all().count == 12)
    }

    @Test func `one bad request does not spoil those that share its transaction`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open(executor: GateExecutor(opensAt: 5))
        let failures = Counter()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<5 {
                group.addTask {
                    do {
                        if number == 2 {
                            try await store.write { transaction in
                                _ = try transaction.ingest(Ingest(.band, [beat(999)]))
                                try transaction.database.execute(sql: "INSERT INTO store(id, identity) VALUES (1, '')")
                            }
                        } else {
                            _ = try await store.ingest(Ingest(.band, [beat(number)]))
                        }
                    } catch {
                        failures.add()
                    }
                }
            }
        }
        #expect(failures.value == 1)
        #expect(try await store.all().map(\.sample) == [0, 1, 3, 4].map { beat($0) })
        #expect(folder.committed.all.map(\.sequence) == [1, 2, 3, 4])
    }

    @Test func `a full disk fails every request and changes nothing until there is room again`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(-1)]))
        try await store.write { transaction in
            let pages = try Int.fetchOne(transaction.database, sql: "PRAGMA page_count") ?? 0
            try transaction.database.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
        }
        let many = (0..<2_000).map { beat($0) }
        await #expect(throws: StoreError.self) { try await store.ingest(Ingest(.band, many)) }
        do {
            _ = try await store.ingest(Ingest(.ring, many))
            Issue.record("the disk is full")
        } catch {
            #expect(error.code == .full)
        }
        #expect(try await store.all().count == 1)
        #expect(folder.committed.all.count == 1)
        #expect(try await store.statistics().lastError?.contains("full") == true)
        try await store.write { try $0.database.execute(sql: "PRAGMA max_page_count = 1000000") }
        _ = try await store.ingest(Ingest(.band, many))
        #expect(try await store.all().count == 2_001)
        #expect(folder.committed.all.map(\.sequence) == Array(1...11))
        #expect(try await store.statistics().lastError == nil)
    }

    @Test func `every commit is synchronised to the disk`() async throws {
        let store = try SQLiteStore.scratch()
        let (synchronous, mode) = try await store.write { transaction in
            (
                try Int.fetchOne(transaction.database, sql: "PRAGMA synchronous"),
                try String.fetchOne(transaction.database, sql: "PRAGMA journal_mode")
            )
        }
        #expect(synchronous == 2)
        #expect(mode == "wal")
    }

    @Test func `a closed store says so`() async throws {
        let store = try SQLiteStore.scratch()
        try await store.close()
        try await store.close()
        await #expect(throws: StoreError(.closed, "The store is closed.")) { try await store.load(.band) }
        await #expect(throws: StoreError(.closed, "The store is closed.")) { try await store.statistics() }
    }
}
