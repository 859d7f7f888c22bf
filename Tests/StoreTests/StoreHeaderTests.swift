import Foundation
import GRDB
import Testing
import Vitals

@testable import Store

/// What a file says about its owner before it is opened agrees with what an opening says.
@Suite struct StoreHeaderTests {
    @Test func `knows a store, and the database of another program`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        // Also while all of it is in the log.
        #expect(!StoreHeader(of: folder.path).isOfAnotherProgram)
        try await store.close()
        #expect(StoreHeader(of: folder.path).isDatabase)
        #expect(!StoreHeader(of: folder.path).isOfAnotherProgram)

        let other = try DatabaseQueue(path: folder.path + "2")
        try await other.write { try $0.execute(sql: "CREATE TABLE mine(a)") }
        try other.close()
        #expect(StoreHeader(of: folder.path + "2").isOfAnotherProgram)

        let empty = try DatabaseQueue(path: folder.path + "3")
        try await empty.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        try empty.close()
        #expect(!StoreHeader(of: folder.path + "3").isOfAnotherProgram)
    }

    @Test func `knows a store of a newer version, and leaves nothing beside it`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        #expect(!StoreHeader(of: folder.path).isOfNewerVersion)
        try await store.close()
        #expect(!StoreHeader(of: folder.path).isOfNewerVersion)
        let newer = try DatabaseQueue(path: folder.path)
        try await newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        try newer.close()
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(StoreHeader(of: folder.path).isOfNewerVersion)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == before)
        #expect(throws: StoreError.self) { try folder.open() }
        // A name that a URI would read otherwise.
        let strange = folder.url.appending(path: "a?b#c%20 d.sqlite").path
        try FileManager.default.copyItem(atPath: folder.path, toPath: strange)
        #expect(StoreHeader(of: strange).isOfNewerVersion)
        #expect(!StoreHeader(of: folder.path + "none").isOfNewerVersion)
    }

    @Test func `knows whether a gateway uses a store`() async throws {
        let folder = try StoreFolder()
        #expect(!StoreHeader(of: folder.path).isInUse)
        let store = try folder.open()
        #expect(StoreHeader(of: folder.path).isInUse)
        try await store.close()
        #expect(!StoreHeader(of: folder.path).isInUse)
        try await folder.open().close()
    }

    @Test func `a database of many tables is another program's, too`() async throws {
        let folder = try StoreFolder()
        let other = try DatabaseQueue(path: folder.path)
        try await other.write { database in
            for number in 0..<300 { try database.execute(sql: "CREATE TABLE mine_\(number)(a, b, c)") }
        }
        try other.close()
        #expect(StoreHeader(of: folder.path).isOfAnotherProgram)
    }

    @Test(arguments: ["", "SQLite format 3\0", "no database"])
    func `a file without a whole header is nobody's`(content: String) throws {
        let folder = try StoreFolder()
        try Data(content.utf8).write(to: URL(filePath: folder.path))
        #expect(!StoreHeader(of: folder.path).isOfAnotherProgram)
        #expect(!StoreHeader(of: folder.path + "2").isDatabase)
    }
}
