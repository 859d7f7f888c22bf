import Concurrency
import Foundation
import GRDB
import Testing
import Vitals

@testable import Store

/// Stores of an earlier version. Nothing was released before version 1, so the earlier one is invented: `Fixtures/version-0.sql`
/// has its tables and rows, and `Self.steps` lead from it to version 1. Each released version will have a fixture of its own.
@Suite struct EarlierVersionTests {
    private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/version-0.sql")

    /// The invented version 0, and the step from it to version 1.
    private static let steps: DatabaseMigrator = {
        var steps = DatabaseMigrator()
        steps.registerMigration("0", foreignKeyChecks: .immediate) {
            try $0.execute(sql: String(contentsOf: fixture, encoding: .utf8))
        }
        steps.registerMigration("1", foreignKeyChecks: .immediate) {
            try $0.execute(
                sql: """
                    ALTER TABLE device RENAME COLUMN has_battery TO features;
                    CREATE TABLE driver_note(
                        device INTEGER NOT NULL REFERENCES device(id),
                        name TEXT NOT NULL,
                        bytes BLOB NOT NULL,
                        PRIMARY KEY(device, name)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        return steps
    }()
    /// Turns a store of version 1 into one of version 0.
    private static let undo = """
        ALTER TABLE device RENAME COLUMN features TO has_battery;
        DROP TABLE driver_note;
        UPDATE grdb_migrations SET identifier = '0';
        """

    /// Makes a store of version 0.
    private func make(at path: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: String(contentsOf: Self.fixture, encoding: .utf8)) }
        return queue
    }

    /// Opens a store with the program that knows both versions.
    private func open(_ folder: borrowing StoreFolder) throws -> SQLiteStore {
        let committed = folder.committed
        let file = try StoreFile(
            path: folder.path, migrator: Self.steps, now: StoreFolder.now, newIdentity: SampleID(high: 9, low: 0))
        return SQLiteStore(
            file, options: StoreOptions(), executor: QueueExecutor(label: "writer"),
            reading: QueueExecutor(label: "reader"), pause: { _ in }, onCommit: { committed.add($0) })
    }

    private func inspection(of path: String) throws -> StoreInspection {
        try StoreInspection(of: path, migrator: Self.steps)
    }

    private func findings(in path: String) throws -> [String] {
        try StoreCheck.findings(in: path, migrator: Self.steps) {}
    }

    /// The schema as SQLite keeps it, by the names of tables and views. It quotes renamed columns.
    private func schema(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read {
            try String.fetchAll($0, sql: "SELECT name || ': ' || sql FROM sqlite_master WHERE sql > '' ORDER BY name")
                .map { $0.replacing("\"", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        }
    }

    @Test func `the steps of the schema make the tables that are written down for each version`() throws {
        let folder = try StoreFolder()
        let old = try make(at: folder.path)
        try Self.steps.migrate(old)
        let new = try DatabaseQueue(path: folder.path + "2")
        try Schema.migrator.migrate(new)
        #expect(try schema(new) == schema(old))
        #expect(Schema.migrator.migrations == ["1"], "A version after the first needs its own step here.")
    }

    @Test func `a store of an earlier version is copied, and becomes one of this version`() async throws {
        let folder = try StoreFolder()
        try make(at: folder.path).close()
        let store = try open(folder)
        #expect(store.opening == .existing)
        #expect(store.identity == SampleID(high: 5, low: 0))
        #expect(store.oldVersion == "\(folder.path).version-0")
        try await expectContent(of: store)
        _ = try await store.ingest(Ingest(.band, [beat(1)]))
        #expect(folder.committed.all.map(\.sequence) == [4])
        try await store.close()
        #expect(try open(folder).oldVersion == nil)
        let old = try inspection(of: "\(folder.path).version-0")
        #expect(old.version == "0")
        #expect(old.series.map(\.samples) == [1, 1])
        #expect(try inspection(of: folder.path).version == "1")
        #expect(try findings(in: folder.path) == [])
    }

    @Test func `a copy of an earlier version is never replaced, and no second one is made of the same store`()
        async throws
    {
        let folder = try StoreFolder()
        func update(_ change: String = "") async throws -> String? {
            DiskFile.remove(database: folder.path)
            let queue = try make(at: folder.path)
            try await queue.write { try $0.execute(sql: change) }
            try queue.close()
            let store = try open(folder)
            defer { withExtendedLifetime(store) {} }
            try await store.close()
            return store.oldVersion
        }
        let first = folder.path + ".version-0"
        #expect(try await update() == first)
        let content = try Data(contentsOf: URL(filePath: first))
        // The store is the earlier one: the last start got no further, or its copy was restored.
        #expect(try await update() == first)
        #expect(try Data(contentsOf: URL(filePath: first)) == content)
        #expect(try await update("UPDATE device SET last_seen = 1") == first + "-2")
        #expect(try await update("UPDATE device SET last_seen = 2") == first + "-3")
        #expect(try await update("UPDATE device SET last_seen = 1") == first + "-2")
        #expect(try Data(contentsOf: URL(filePath: first)) == content)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            $0.contains("version")
        }
        #expect(names.count == 3)
    }

    /// What `store info` says, but for the version, the size and the path.
    private func info(_ inspection: StoreInspection) -> [String] {
        ["\(inspection.identity) \(inspection.waiting)"] + inspection.series.map { "\($0)" }
    }

    @Test func `a store as a crash of an earlier version left it loses nothing`() async throws {
        let old = try StoreFolder()
        let writer = try old.open()
        let samples = (0..<50).map { beat($0) }
        for sample in samples { _ = try await writer.ingest(Ingest(.band, [sample])) }
        let folder = try old.crashed()
        // What the last commits wrote is in the journal, and the log is not in the main file.
        let journal = try DatabaseQueue(path: folder.path)
        try await journal.write { try $0.execute(sql: Self.undo) }
        #expect(try await journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") } ?? 0 > 0)
        // Open until the store is: the last one to close would move the log.
        defer { withExtendedLifetime(journal) {} }
        let before = try inspection(of: folder.path)
        #expect(before.version == "0")

        let store = try open(folder)
        #expect(store.opening == .existing)
        #expect(store.oldVersion == "\(folder.path).version-0")
        let after = try inspection(of: folder.path)
        #expect(info(after) == info(before))
        #expect(after.version == "1")
        #expect(try await store.all().map(\.sample) == samples)
        for (lane, count) in before.waiting {
            #expect(try await store.pending(lane, after: 0, limit: 10_000).count >= count)
            #expect(try await store.statistics().pending[lane] == count)
        }
        #expect(try findings(in: folder.path) == [])
        try await store.close()
        let copy = try inspection(of: "\(folder.path).version-0")
        #expect(info(copy) == info(before))
        #expect(try findings(in: "\(folder.path).version-0") == [])
        try await writer.close()
    }

    /// What the fixture has stored.
    private func expectContent(of store: SQLiteStore) async throws {
        #expect(try await store.all().map(\.sample) == [beat(0, 61)])
        let night = Sleep(stages: [.init(.deep, from: dawn, to: dawn + .hours(1))])
        #expect(try await store.all(.sleep).map(\.sample.reading) == [.sleep(night)])
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.values) == [[61]])
        #expect(try await store.statistics().pending[.live] == 1)
        #expect(try await store.load(.band).features == .battery)
        let level = try await store.load(.band).levels[AlertRule(.stress, .high)]
        #expect(level?.isActive == true && level?.acknowledgement?.person == "anna")
        let unanswered = try await store.unanswered(after: 0, limit: 9)
        #expect(unanswered.map(\.key) == ["id:1"])
        #expect(unanswered.first?.envelope.correlation == [0, 255, 7])
        let answers = try await store.pending(.answer, after: 0, limit: 9).compactMap(\.answer)
        #expect(
            answers == [
                StoredAnswer(key: "id:2", topic: "me", correlation: [1], payload: Array("{}".utf8), at: dawn)
            ])
    }
}
