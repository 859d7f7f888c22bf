import Foundation
import GRDB
import StoreAPI
import Testing
import Vitals

@testable import Store

/// Stores of earlier versions, from the text in `Fixtures/version-<number>.sql`. The texts were written by hand from the steps
/// of the schema, with rows as the tables of each version have them; what a program of an earlier version wrote is in
/// `WrittenVersionTests`. They do not depend on today's migrator: an edit of a step that was shipped fails here.
@Suite struct EarlierVersionTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// Makes the store of a version.
    private func make(_ version: String, at path: String) throws -> DatabaseQueue {
        let fixture = Self.folder.appending(path: "version-\(version).sql")
        var configuration = Configuration()
        // The tables are in the order of their names, so that rows come before those that they refer to.
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: String(contentsOf: fixture, encoding: .utf8)) }
        return queue
    }

    /// The schema as SQLite keeps it, by the names of tables and views. Its versions quote renamed columns differently.
    private func schema(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read {
            try String.fetchAll($0, sql: "SELECT name || ': ' || sql FROM sqlite_master WHERE sql > '' ORDER BY name")
                .map { $0.replacing("\"", with: "") }
        }
    }

    @Test(arguments: Schema.migrator.migrations)
    func `the steps of the schema make the tables that are written down for each version`(version: String) throws {
        let folder = try StoreFolder()
        let old = try make(version, at: folder.path)
        let new = try DatabaseQueue(path: folder.path + "2")
        try Schema.migrator.migrate(new, upTo: version)
        #expect(try schema(new) == schema(old))
        #expect(try old.read { try Schema.migrator.appliedIdentifiers($0).count } == Int(version))
    }

    @Test(arguments: Schema.migrator.migrations.dropLast())
    func `a store of an earlier version is copied, and becomes one of this version`(version: String) async throws {
        let folder = try StoreFolder()
        try make(version, at: folder.path).close()
        let store = try folder.open(identity: 9)
        #expect(store.opening == .existing)
        #expect(store.identity == SampleID(high: 5, low: 0))
        #expect(store.oldVersion == "\(folder.path).version-\(version)")
        try await expectContent(of: store)
        _ = try await store.ingest(Ingest(.band, [beat(1)]))
        #expect(folder.committed.all.map(\.sequence) == [4])
        try await store.close()
        #expect(try folder.open().oldVersion == nil)
        let old = try StoreInspection(of: "\(folder.path).version-\(version)")
        #expect(old.version == version)
        #expect(old.series.map(\.samples) == [1, 1])
        #expect(try StoreInspection(of: folder.path).version == Schema.migrator.migrations.last)
        #expect(try StoreCheck.findings(in: folder.path) == [])
    }

    @Test func `a copy of an earlier version is never replaced, and no second one is made of the same store`()
        async throws
    {
        let folder = try StoreFolder()
        func update(_ change: String = "") async throws -> String? {
            DiskFile.remove(database: folder.path)
            let queue = try make("6", at: folder.path)
            try await queue.write { try $0.execute(sql: change) }
            try queue.close()
            let store = try folder.open()
            defer { withExtendedLifetime(store) {} }
            try await store.close()
            return store.oldVersion
        }
        let first = folder.path + ".version-6"
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

    /// What each fixture has stored.
    private func expectContent(of store: SQLiteStore) async throws {
        #expect(try await store.all().map(\.sample) == [beat(0, 61)])
        let night = Sleep(stages: [.init(.deep, from: dawn, to: dawn + .hours(1))])
        #expect(try await store.all(.sleep).map(\.sample.reading) == [.sleep(night)])
        #expect(try await store.pendingFacts(.live, after: 0, limit: 9).map(\.values) == [[61]])
        #expect(try await store.statistics().pending[.live] == 1)
        #expect(try await store.load(.band).features == .battery)
        #expect(try await store.load(.band).levels[AlertRule(.stress, .high)]?.isActive == true)
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
