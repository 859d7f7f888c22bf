import Foundation
import GRDB
import Testing
import Vitals

@testable import Store

@Suite struct FileTests {
    private func filled(_ folder: borrowing StoreFolder) async throws {
        let store = try folder.open()
        for hour in 0..<20 {
            _ = try await store.ingest(Ingest(.band, (0..<500).map { beat(hour * 3_600 + $0) }))
        }
        try await store.close()
    }

    @Test func `a file that is not there is made, with an identity that stays`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open(identity: 5)
        #expect(store.opening == .new)
        #expect(store.identity == SampleID(high: 5, low: 0))
    }

    @Test(arguments: [
        "no database at all, but long enough for a header of one hundred bytes", "SQLite format 3\0 and then garbage",
        "x",
    ])
    func `a file that is no database is moved aside`(content: String) async throws {
        let folder = try StoreFolder()
        let damaged = Data(content.utf8)
        try damaged.write(to: URL(filePath: folder.path))
        try await expectReplaced(folder, content: damaged)
    }

    @Test func `a file that was cut is moved aside`() async throws {
        let folder = try StoreFolder()
        try await filled(folder)
        let whole = try Data(contentsOf: URL(filePath: folder.path))
        let cut = whole.prefix(whole.count / 2)
        try cut.write(to: URL(filePath: folder.path))
        try await expectReplaced(folder, content: Data(cut))
    }

    private func expectReplaced(_ folder: borrowing StoreFolder, content: Data) async throws {
        let store = try folder.open(identity: 9)
        guard case .replacedCorrupt(let moved) = store.opening else {
            Issue.record("opened as \(store.opening)")
            return
        }
        #expect(moved.hasPrefix(folder.path + ".corrupt-20261118T"))
        #expect(try Data(contentsOf: URL(filePath: moved)) == content)
        #expect(store.identity == SampleID(high: 9, low: 0))
        #expect(try await store.ingest(Ingest(.band, [beat(0)])).new == 1)
        #expect(folder.committed.all.last?.sequence == 1)
    }

    @Test func `damage among the samples stops the store, and the next start moves it aside`() async throws {
        let folder = try StoreFolder()
        try await filled(folder)
        var bytes = try Data(contentsOf: URL(filePath: folder.path))
        // Damages the first page of the samples, which a start does not read.
        let store = try folder.open()
        let root = try await store.write { transaction in
            try Int.fetchOne(transaction.database, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'sample'") ?? 0
        }
        try await store.close()
        let page = StorePlace.pageBytes
        bytes.replaceSubrange((root - 1) * page..<root * page, with: Data(repeating: 0x5A, count: page))
        try bytes.write(to: URL(filePath: folder.path))

        let damaged = try folder.open()
        #expect(damaged.opening == .existing)
        await #expect { try await damaged.all() } throws: { ($0 as? StoreError)?.code == .corrupt }
        await #expect { try await damaged.ingest(Ingest(.band, [beat(0)])) } throws: {
            ($0 as? StoreError)?.code == .corrupt
        }
        try await damaged.close()
        let replaced = try folder.open(identity: 4)
        guard case .replacedCorrupt = replaced.opening else {
            Issue.record("opened as \(replaced.opening)")
            return
        }
        replaced.confirmOpening()
        try await replaced.close()
        #expect(try folder.open().opening == .existing)
    }

    @Test func `a second gateway on the same file is refused`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        #expect { try folder.open() } throws: { ($0 as? StoreError)?.message.contains("Another gateway") == true }
        try await store.close()
        _ = try folder.open()
    }

    @Test func `a store that is given up without closing frees the file`() async throws {
        let folder = try StoreFolder()
        do {
            let store = try folder.open()
            _ = try await store.ingest(Ingest(.band, [beat(0)]))
        }
        #expect(try await folder.open().all().count == 1)
    }

    @Test func `another program may read meanwhile what has left the journal`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let shell = try DatabaseQueue(path: folder.path)
        _ = try await store.ingest(Ingest(.band, [beat(0, 61)]))
        _ = try await store.clean(at: dawn + .hours(1) + Transaction.journaledAge)
        let rows = try await shell.read {
            try String.fetchAll($0, sql: "SELECT device || metric || start || value FROM readable_sample")
        }
        #expect(rows == ["band-1heart_rate2026-11-18T00:00:00.000Z61.0"])
    }

    @Test func `the file of a newer version is refused and left alone`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.write { try $0.database.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        try await store.close()
        #expect { try folder.open() } throws: { ($0 as? StoreError)?.message.contains("newer version") == true }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains("corrupt") } == []
        )
    }

    @Test func `the database of another program is refused and left alone`() async throws {
        let folder = try StoreFolder()
        let other = try DatabaseQueue(path: folder.path)
        try await other.write { try $0.execute(sql: "CREATE TABLE mine(a)") }
        try other.close()
        #expect { try folder.open() } throws: { ($0 as? StoreError)?.message.contains("another program") == true }
    }

    @Test func `a folder where the file should be is refused and left alone`() throws {
        let folder = try StoreFolder()
        let inside = "\(folder.path)/other"
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(filePath: inside))
        #expect { try folder.open() } throws: { ($0 as? StoreError)?.message.contains("is no file") == true }
        #expect(FileManager.default.contents(atPath: inside) == Data("mine".utf8))
    }

    @Test func `a folder that is not there is an error that says so`() throws {
        let folder = try StoreFolder()
        try FileManager.default.removeItem(at: folder.url)
        #expect { try folder.open() } throws: { ($0 as? StoreError)?.code == .unavailable }
    }
}
